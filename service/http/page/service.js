// What the page asks of its service. Every address is relative: the service may stand below a path, and is the only one asked.

const JSON_BODY = { "content-type": "application/json" };

/** A fault that the reader is told; `retry` where asking again may help, `field` the one to be mended where it is known. */
export class Told extends Error {
  constructor(message, { status = 0, retry = false, detail = "", field = "" } = {}) {
    super(message);
    Object.assign(this, { status, retry, detail, field });
  }
}

// An operator may ask for a key. It is kept until the tab is closed, and sent to this service alone.
const KEY = "counterpoint-key";
// A header takes no other characters; with one of them nothing could be sent until the tab is closed.
export const useKey = (key) => sessionStorage.setItem(KEY, key.replace(/[^\x21-\x7e]/g, ""));
const keyed = () => (sessionStorage.getItem(KEY) ? { "x-api-key": sessionStorage.getItem(KEY) } : {});

// The library that is asked, by its id or name; "" is the first.
let library = "";
export const useLibrary = (wanted) => (library = wanted);
export const inLibrary = () => library;

/** The response to a request that went well; a fault is thrown as the service told it. */
export async function asked(path, { headers = {}, ...options } = {}) {
  // What is asked of another library names it.
  const address = library && !/[?&]library=/.test(path) ? `${path}${path.includes("?") ? "&" : "?"}library=${encodeURIComponent(library)}` : path;
  let response;
  try {
    response = await fetch(address, { ...options, headers: { ...headers, ...keyed() } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw unreachable();
  }
  if (response.ok) return response;
  const { status } = response;
  // A proxy in between may answer with something that is not JSON.
  const problem = await response.json().catch(() => null);
  const text = problem?.error ?? problem?.detail ?? problem?.title;
  throw new Told(typeof text === "string" ? text : `The service answered with status ${status}.`, { status, retry: status >= 500 || status === 429 });
}

const unreachable = () => new Told("The service cannot be reached.", { detail: "Is it still running?", retry: true });

const post = (address, body, signal) => asked(address, { method: "POST", headers: JSON_BODY, body: JSON.stringify(body), signal });

/** Both sides of a claim; `onProgress(name, data)` gets each event on the way to them. */
export const ground = (body, signal, onProgress) => streamed("v1/ground/stream", "grounding", body, signal, onProgress);

/** What was typed: a claim, a question, keywords, a paper, a text or another language. */
export const lookAt = async (text, signal) => json(await post("v1/classify", { text }, signal));

/** The first documents that hold these words. */
export const searched = async (query, signal) => json(await asked(`v1/search?${new URLSearchParams({ q: query, limit: 20 })}`, { signal }));

/** An answer to a question, told the same way. */
export const answer = (body, signal, onProgress) => streamed("v1/answer/stream", "answer", body, signal, onProgress);

/** A text with the verdict on each of its sentences, told the same way. */
export const text = (body, signal, onProgress) => streamed("v1/text/stream", "text", body, signal, onProgress);

/** The sentences of one paper that bear on a hypothesis; without a paper there is nothing to ask. */
export async function evidence(body, signal) {
  if (body.text === "") throw new Told("The paper is empty; paste its text, or choose a file.", { field: "paper" });
  return json(await post("v1/evidence", body, signal));
}

/** The data of the event called `last`; those before it are passed on as they come. */
async function streamed(address, last, body, signal, onProgress) {
  for await (const { name, data } of events(await post(address, body, signal))) {
    if (name === last) return data;
    if (name === "error") throw new Told(data.error ?? data.detail ?? "The service failed.", { status: data.status ?? 0, retry: true });
    onProgress(name, data);
  }
  throw new Told("The service stopped before the answer was complete.", { retry: true });
}

async function json(response) {
  const body = await response.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return null;
  });
  if (!body) throw new Told("The service's answer could not be read.", { retry: true });
  return body;
}

/** Server-sent events of a response. EventSource would do this, but it cannot send a body. */
async function* events(response) {
  let name = "";
  let data = [];
  for await (const line of lines(response)) {
    if (line === "") {
      if (data.length) yield { name: name || "message", data: JSON.parse(data.join("\n")) };
      [name, data] = ["", []];
      continue;
    }
    // A line that begins with a colon is a comment, which keeps the connection open.
    const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (field === "event") name = value;
    if (field === "data") data.push(value);
  }
}

/** The lines of a response as they come; a piece may end anywhere, within a character or between "\r" and "\n". */
async function* lines(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = parts.pop();
      yield* parts;
    }
  } catch (error) {
    throw error.name === "AbortError" ? error : unreachable();
  } finally {
    // Whoever has read enough leaves the rest; a stream that broke has nothing to leave.
    reader.cancel().catch(() => {});
  }
}

const ADDRESSES = { claim: "ground", question: "answer", text: "text" };

/** A result that somebody shared, as it was. */
export const shared = async (id, signal) => json(await asked(`v1/shared/${encodeURIComponent(id)}`, { signal }));

/** The same request again in another format: what it holds, of which type, and how its file ends. */
export async function exported(mode, body, format) {
  const response = await (mode === "shared" ? asked(`v1/shared/${encodeURIComponent(body.shared)}?format=${format}`) : post(`v1/${ADDRESSES[mode]}?format=${format}`, body));
  const type = response.headers.get("content-type") ?? "";
  if (/json/.test(type)) throw new Told("This service does not support that format.");
  const ending = /\.\w+(?="$)/.exec(response.headers.get("content-disposition"))?.[0] ?? "";
  return { content: await response.blob(), type, ending };
}

/** What the service keeps (what it remembers, libraries, jobs): read, added to, changed or deleted, as `method` says. */
export async function call(what, method = "GET", body = undefined) {
  const options = body ? { method, headers: JSON_BODY, body: JSON.stringify(body) } : { method };
  const response = await asked(`v1/${what}`, options);
  return response.status === 204 ? undefined : json(response);
}

const documents = new Map();

/** A document with its abstract, fetched once; a fetch that failed is tried again the next time. */
export function documentOf(pmid) {
  if (!documents.has(pmid)) {
    const coming = asked(`v1/documents/${encodeURIComponent(pmid)}`).then(json);
    coming.catch(() => documents.delete(pmid));
    documents.set(pmid, coming);
  }
  return documents.get(pmid);
}

/** A newer answer may come from a newer index, with other abstracts. */
export const forgetDocuments = () => documents.clear();

/** Examples made from the index; null where the service gives none, or not without a key. */
export async function examples() {
  try {
    return await json(await asked("v1/examples"));
  } catch {
    return null;
  }
}

/** What is searched: its name, source, size and date; null where the service does not say, or not without a key. */
export async function about() {
  try {
    return await json(await asked("v1/index"));
  } catch {
    return null;
  }
}

/** The libraries that may be asked, and what the reader may do to them; none where the service does not say, or not without a key. */
export const libraries = () => call("libraries").catch(() => ({ libraries: [], scope: "" }));

/** Whether the service is ready; null where it cannot be reached. */
export async function health() {
  try {
    return await (await fetch("health")).json();
  } catch {
    return null;
  }
}
