// Which library is asked: that of the page's link, the one chosen last, or the first; offered where there are several.

import { announce, byId, count, element } from "./dom.js";
import { inLibrary, libraries, useLibrary } from "./service.js";

const KEY = "counterpoint-library";

/** Takes the library that the link names, and in a page just opened the one chosen last. */
export function takeLibrary() {
  const linked = new URLSearchParams(location.hash.slice(1)).get("library");
  const wanted = linked ?? (inLibrary() || window.kept((store) => store.getItem(KEY)));
  if (wanted) useLibrary(wanted);
}

/** Offers the libraries where there are several; `changed` is called when another one is asked from now on. */
export async function offerLibraries(changed) {
  const found = await libraries();
  const select = byId("library");
  byId("libraries").hidden = found.length < 2;
  select.replaceChildren(...found.map(option));
  if (found.length && !found.some(({ id, name }) => [id, name].includes(inLibrary()))) {
    const lost = inLibrary();
    useLibrary("");
    if (lost) changed();
  }
  // Without a choice the service takes the first that is not damaged.
  select.value = (found.find(({ id, name }) => [id, name].includes(inLibrary())) ?? found.find((one) => !one.damaged))?.id ?? "";
  select.onchange = () => {
    useLibrary(select.value);
    window.kept((store) => store.setItem(KEY, select.value));
    announce(`Searches ${select.selectedOptions[0].textContent} from now on.`);
    changed();
  };
}

function option({ id, name, papers, damaged }) {
  const made = element("option", damaged ? `${name} (damaged)` : `${name} (${count(papers, "paper")})`);
  Object.assign(made, { value: id, disabled: Boolean(damaged), title: damaged });
  return made;
}
