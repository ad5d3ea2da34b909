// What may be asked next: each is a link that asks it.

import { count, element, holding } from "./dom.js";
import { toHash } from "./form.js";

/** The claims and questions to go on with, or nothing where there are none. */
export function fillFollowUps(section, { follow_ups: found = [] }) {
  section.hidden = !found.length;
  section.querySelector("ul").append(...found.map(({ text, kind, why, papers }) => {
    const asks = element("a", text);
    asks.href = toHash({ mode: kind, body: { [kind]: text } });
    asks.dir = "auto";
    return holding("li", "", asks, " ", element("small", `${count(papers, "paper")} · ${why}`));
  }));
}
