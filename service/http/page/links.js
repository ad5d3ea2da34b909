// Links that name what made a result, so that whoever opens one learns what has changed since.

import { toHash } from "./form.js";

/** A link that asks the same again, with the index, the configuration and the models behind the answer. */
export function linkTo(asked, { provenance }) {
  const hash = toHash(asked);
  if (!hash || !provenance || !["claim", "question"].includes(asked.mode)) return location.href;
  const { config, profile, index, models } = provenance;
  const made = [["config", config], ["profile", profile], ["index", index], ...Object.entries(models).map(([role, name]) => ["model", `${role}:${name}`])];
  const parts = made.map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
  return `${location.origin}${location.pathname}${hash}${parts.join("")}`;
}

/** Whether the page's link names a result: what was asked for it was a claim to its reader, whatever it looks like. */
export const namesResult = () => new URLSearchParams(location.hash.slice(1)).has("index");

/** What differs between the origin that the page's link names and that of the answer, a sentence each. */
export function changesSince({ provenance }) {
  const given = new URLSearchParams(location.hash.slice(1));
  if (!provenance || !given.has("index")) return [];
  const { config, profile, index, models } = provenance;
  const now = Object.entries(models).map(([role, name]) => `${role}:${name}`);
  const then = given.getAll("model");
  const told = [];
  if (given.get("index") !== index) told.push(`The index has changed since this link was made: it was ${given.get("index")}, it is ${index} now.`);
  if (given.get("config") !== config || given.get("profile") !== profile) {
    told.push(`The configuration has changed: it was ${given.get("config")} with the profile ${given.get("profile")}, it is ${config} with ${profile} now.`);
  }
  if (then.join("\n") !== now.join("\n")) told.push(`The models have changed: ${then.join(", ") || "none"} then, ${now.join(", ") || "none"} now.`);
  return told;
}
