// “Wrong side?” on every card of a claim: what the reader says is right goes to the service, with what was shown.

import { announce, button, element, holding } from "./dom.js";
import { call } from "./service.js";

const SAYS = { contradict: "It contradicts the claim", support: "It supports the claim", neutral: "It does neither" };

let shownFor = null;
let watching = null;

/** From now on the cards are judged for this result of a claim; null: cards are not judged. They may be added at any time. */
export function judgeCards(found) {
  shownFor = found;
  const place = document.getElementById("answer");
  watching ??= new MutationObserver(() => addToCards(place));
  watching.observe(place, { childList: true, subtree: true });
  addToCards(place);
}

function addToCards(place) {
  if (!shownFor) return;
  for (const card of place.querySelectorAll(".card")) {
    if (card.evidence && !card.querySelector(".wrong")) card.append(question(card.evidence, shownFor));
  }
}

function question(evidence, found) {
  const shown = found.uncertain.some((one) => one.pmid === evidence.pmid) ? "uncertain" : evidence.stance;
  const choices = holding("p", "choices");
  for (const [right, text] of Object.entries(SAYS)) {
    if (right !== shown) choices.append(button(text, "quiet", () => say(right)));
  }
  const trouble = element("p", "", "trouble");
  trouble.setAttribute("role", "alert");
  const made = holding("details", "wrong", element("summary", "Wrong side?"), choices, trouble);

  async function say(right) {
    const { claim, provenance } = found;
    const body = { claim: claim.text, question: claim.question, pmid: evidence.pmid, sentence: evidence.sentence?.text ?? "", shown, right, provenance };
    trouble.textContent = "";
    try {
      const { id } = await call("feedback", "POST", body);
      const kept = element("p", `Stored: ${SAYS[right].toLowerCase()}. `, "choices");
      kept.append(button("Undo", "quiet", () => undo(id)));
      made.replaceChild(kept, made.querySelector(".choices"));
      kept.querySelector("button").focus();
      announce("Your answer was stored. Thank you.");
    } catch (error) {
      trouble.textContent = `This could not be stored. ${error.message}`;
    }
  }

  async function undo(id) {
    await call(`feedback/${id}`, "DELETE").catch(() => {});
    made.replaceChild(choices, made.querySelector(".choices"));
    choices.querySelector("button").focus();
    announce("Your answer was deleted.");
  }

  return made;
}
