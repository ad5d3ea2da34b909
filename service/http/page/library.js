// Which library is asked: that of the page's link, the one chosen last, or the first; offered where there are several.

import { announce, byId, count, element } from "./dom.js";
import { inLibrary, libraries, useLibrary } from "./service.js";

const KEY = "counterpoint-library";

let told = Promise.resolve({ scope: "" });

/** Whether somebody with this scope may change libraries, and share results. */
export const mayChange = (scope) => ["write", "admin"].includes(scope);

/** Whether the reader may, once the service has said what they may do. */
export const mayShare = async () => mayChange((await told).scope);

/** Takes the library that the link names, and in a page just opened the one chosen last; true where it is another than before. */
export function takeLibrary() {
  const given = new URLSearchParams(location.hash.slice(1));
  const linked = given.get("library");
  // A link that names nothing else was pressed to choose it.
  if (linked && given.size === 1) window.kept((store) => store.setItem(KEY, linked));
  const before = inLibrary();
  const wanted = linked ?? (before || window.kept((store) => store.getItem(KEY)));
  if (wanted) useLibrary(wanted);
  return inLibrary() !== before;
}

/** Offers the libraries where there are several; `changed` is called when another one is asked from now on. Returns what there is. */
export async function offerLibraries(changed) {
  told = libraries();
  const all = await told;
  const found = all.libraries;
  const select = byId("library");
  byId("libraries").hidden = found.length < 2;
  byId("to-libraries").hidden = !all.scope;
  select.replaceChildren(...found.map(option));
  if (found.length && !found.some(isAsked)) {
    const lost = inLibrary();
    useLibrary("");
    if (lost) changed();
  }
  select.value = askedOf(found)?.id ?? "";
  select.onchange = () => {
    useLibrary(select.value);
    window.kept((store) => store.setItem(KEY, select.value));
    announce(`Searches ${select.selectedOptions[0].textContent} from now on.`);
    changed();
  };
  return all;
}

const isAsked = ({ id, name }) => [id, name].includes(inLibrary());

/** The one of these that is asked: without a choice the service takes the first that is not damaged. */
export const askedOf = (found) => found.find(isAsked) ?? found.find((one) => !one.damaged);

function option({ id, name, papers, damaged }) {
  const made = element("option", damaged ? `${name} (damaged)` : `${name} (${count(papers, "paper")})`);
  Object.assign(made, { value: id, disabled: Boolean(damaged), title: damaged });
  return made;
}
