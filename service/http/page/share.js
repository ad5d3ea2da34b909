// Sharing an answer as it is, under a link of its own; and what is said above one that was shared.

import { announce, button, byId, element } from "./dom.js";
import { call } from "./service.js";

/** The id of the shared result that the page's link names; null where it names none. */
export const sharedIn = () => new URLSearchParams(location.hash.slice(1)).get("shared");

/** Keeps an answer as it is; the button becomes the link to it, which is copied where the browser allows that. `then` is called. */
export function shareButton({ mode, body }, found, then) {
  const made = button("Share", "quiet", async (pressed) => {
    if (pressed.getAttribute("aria-busy") === "true") return;
    pressed.setAttribute("aria-busy", "true");
    try {
      const { link } = await call("shared", "POST", { result: found, name: body.name ?? "" });
      const opens = element("a", "Open the shared result", "quiet");
      opens.href = link;
      pressed.replaceWith(opens);
      opens.focus();
      const copied = await navigator.clipboard?.writeText(opens.href).then(() => true, () => false);
      announce(copied ? "Shared. Its link was copied." : "Shared.");
      await then();
    } catch (error) {
      byId("trouble").textContent = `The result could not be shared. ${error.message}`;
      pressed.removeAttribute("aria-busy");
    }
  });
  made.title = `Keeps this result${mode === "text" ? ", with your text," : ""} for all who may see the library and have its link`;
  return made;
}

/** From when and where a shared result is, and what has changed since. */
export function keptNote({ at, library_name, changed, again }) {
  const when = new Date(at).toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" });
  const made = element("p", `Shared on ${when} and kept as it was. Library: ${library_name}. ${changed.join(" ")} `, "notice");
  if (again) made.append(Object.assign(element("a", "Ask again now"), { href: again }));
  return made;
}
