// Files on their way to the service, in parts: a connection that breaks loses one part at most.

import { asked, call } from "./service.js";

// Bytes sent at once: the service takes 8 MB, but waits half a minute at most, and progress is told after each part.
const PART = 2_000_000;
// Seconds until a part is sent again, each after another failure.
const WAITS = [1, 2, 4, 8, 15];

/**
 * Sends a file to a library, from the byte `at` on; `onProgress(received, fault)` is called after every part, and with the fault where one
 * did not arrive. Throws once a part has failed too often, was refused, or `signal` stops it. The upload's own id, which tells it from
 * others of its name, is kept with the file.
 */
export async function upload(id, one, signal, onProgress) {
  const { name, file } = one;
  let { at = 0 } = one;
  let failed = 0;
  while (at < file.size) {
    try {
      ({ received: at, upload: one.upload } = await sendPart(id, one, at, signal));
      failed = 0;
      onProgress(at);
    } catch (error) {
      if (signal.aborted || !(error.retry || error.status === 409) || failed === WAITS.length) throw error;
      onProgress(at, error);
      await pause(WAITS[failed++], signal);
      // The service knows how much of it arrived.
      at = await receivedOf(id, one).catch(() => at);
    }
  }
}

async function sendPart(id, { name, file, upload: own = "" }, at, signal) {
  const place = new URLSearchParams({ offset: at, total: file.size, upload: own });
  const headers = { "content-type": "application/octet-stream" };
  const body = file.slice(at, at + PART);
  return (await asked(`v1/libraries/${id}/files/${encodeURIComponent(name)}?${place}`, { method: "PUT", headers, body, signal })).json();
}

/** The files of a library that wait to be read: the name of each, the bytes received, and whether it is whole. */
export const waitingOf = async (id) => (await call(`libraries/${id}/files`)).files;

const receivedOf = async (id, { upload: own }) => (await waitingOf(id)).find((one) => own && one.upload === own)?.received ?? 0;

function pause(seconds, signal) {
  return new Promise((done, stopped) => {
    setTimeout(done, seconds * 1000);
    signal.addEventListener("abort", () => stopped(signal.reason));
  });
}
