"""Libraries made and changed over HTTP: uploaded files, searches, the jobs that read them, the papers of a library, its end."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path as PathOnDisk
from typing import Annotated
from urllib.parse import quote

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import PlainTextResponse, Response, StreamingResponse
from pydantic import BaseModel, Field, SecretStr

from counterpoint.indexes.fetch.zotero_link import read_link
from counterpoint.indexes.full_texts import find_doubts
from counterpoint.indexes.packing import SUFFIX, is_pack, read_pack, write_pack
from counterpoint.retrieval.cluster.client import is_address
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput, CounterpointError, translate_write_errors
from counterpoint.retrieval.store.documents import Sort, Store, Wanted
from counterpoint.retrieval.store.library import (
    MOST_DESCRIPTION,
    MOST_NAME,
    LibraryFile,
    check_name,
    is_id,
    make_id,
    read_library_file,
)
from counterpoint.service.http.library_routes import LibraryId, changes
from counterpoint.service.http.requests import problems
from counterpoint.service.http.requests.access import admit_request, sender_of
from counterpoint.service.http.requests.working import parts_of
from counterpoint.service.operating import uploads
from counterpoint.service.operating.jobs import (
    UNFINISHED,
    ZOTERO_LIBRARY,
    JobOut,
    Jobs,
    NoSuchJob,
    Runner,
    Search,
    Work,
    Zotero,
    ZoteroIn,
    find_ids,
    name_key,
)
from counterpoint.service.operating.libraries import Library, NoSuchLibrary
from counterpoint.service.operating.searching import list_zotero, list_zotero_web, look_up
from counterpoint.service.operating.uploads import (
    MOST_CHUNK,
    UploadOut,
    add_chunk,
    list_uploads,
    name_draft,
    name_linked,
    remove_upload,
)
from counterpoint.service.schemas import OfValue, RankedPaper, Sent, facts_of

_BINARY = {"type": "string", "format": "binary"}
FILES = r"/v1/libraries/[^/]+/files/[^/]+"
"""The paths at which files are uploaded, as a pattern."""
router = APIRouter(dependencies=[Depends(admit_request)], responses=problems.responses(401, 404, 409, 422, 429, 500, 503))
FileName = Annotated[str, Path(max_length=200, description="The plain name of a file.")]
JobId = Annotated[str, Path(max_length=40, description="The id of a job.")]


class NewLibrary(Sent):
    """What a library is called that is to be made."""

    name: str = Field(description=f"1 to {MOST_NAME} characters.")
    description: str = Field("", max_length=MOST_DESCRIPTION)


class DraftOut(BaseModel):
    """A library that has been named: it can be searched once its first job has read papers into it."""

    id: str
    name: str
    files: list[UploadOut] = Field(description="What has been uploaded and not been read yet.")


class SearchIn(Search):
    """A search of PubMed or Europe PMC."""

    query: str = Field(min_length=1, max_length=4000, description="As you would type it there.")

    def check(self) -> None:
        """Raise `BadInput` for a query without words."""
        if not (words := "".join(self.query.split())) or not words.isprintable():
            raise BadInput("Expected the words of a search, got only blanks or control characters; type it again.")


class ZoteroKey(Sent):
    """A library at zotero.org, and the key that may read it."""

    library: str = Field(pattern=ZOTERO_LIBRARY, min_length=7, description="users/ID or groups/ID.")
    key: SecretStr = Field(
        SecretStr(""), max_length=100, description="A key of zotero.org/settings/keys; empty: the one given before, if any."
    )


class LibraryWork(Sent):
    """What is to be done to a library, as one job; what cannot be read is left out and listed."""

    files: list[str] = Field(default_factory=list, max_length=uploads.MOST_FILES, description="Names of uploaded files to read.")
    search: SearchIn | None = Field(None, description="Papers to fetch.")
    ids: str = Field("", max_length=100_000, description="PMIDs, PMCIDs and DOIs to fetch, with blanks or commas between.")
    removed: list[str] = Field(default_factory=list, max_length=10_000, description="Ids of papers to remove.")
    zotero: ZoteroIn | None = Field(None, description="A collection to take or to bring up to date; needs the scope admin.")
    sync: bool = Field(False, description="Bring it up to date with the collection that was taken before; needs the same.")
    joins: str = Field("", max_length=500, description="The id of the paper whose full text the one file is.")
    confirmed: bool = Field(False, description="Join it also if it seems to be another paper, or replaces a text.")
    vectors: bool = Field(True, description="Whether vectors are made, with which claims find more; only up to 50,000 papers.")

    def read(self) -> Work:
        """As work for a job; raises `BadInput` for an id that is none."""
        searches, unknown = find_ids(self.ids)
        if unknown:
            raise BadInput(f"“{unknown[0][:60]}” is no PMID, PMCID or DOI; correct it or leave it out.")
        if self.search:
            self.search.check()
            searches.append(self.search)
        if any(not 0 < len(one.strip()) <= 500 or not one.isprintable() for one in self.removed):
            raise BadInput("Expected the ids of papers in removed, got one that is empty, too long or not printable.")
        return Work(tuple(self.files), tuple(searches), tuple(self.removed), self.vectors, joins=self.joins)


class JobList(BaseModel):
    """The jobs on the libraries that the sender may see, newest first."""

    jobs: list[JobOut]


def _runner(request: Request) -> Runner:
    runner = parts_of(request).runner
    if runner is None:
        raise problems.Refused("This service serves one index and keeps no libraries; start it with --libraries FOLDER.", 409)
    return runner


def _jobs(request: Request) -> Jobs:
    return _runner(request).jobs


def _find(request: Request, id: str) -> Library:
    """The library of this id that the sender may see, or one that is only named yet; raises `NoSuchLibrary`."""
    folder, sender = _jobs(request).folder, sender_of(request)
    try:
        return parts_of(request).libraries.find(id, sender.seen_as)
    except NoSuchLibrary:
        draft = name_draft(folder, id)
        if is_id(id) and (file := read_library_file(draft)):
            found = Library(file.id, file.name, draft, draft, file.description, file.keys, kept=True)
            if found.is_seen_by(sender.seen_as):
                return found
        raise


def _find_kept(request: Request, id: str) -> Library:
    """The same, of what can be changed; raises `Refused` for an index that is only served."""
    found = _find(request, id)
    if not found.kept:
        raise problems.Refused(f"{found.name} is served as it is; change it with `counterpoint index update`.", 409)
    return found


def _see_job(request: Request, id: str) -> JobOut:
    job = _jobs(request).get(id)
    try:
        return job.show(_find(request, job.library).name)
    except NoSuchLibrary:
        raise NoSuchJob("There is no such job.") from None


@changes.post("/v1/libraries", status_code=201)
def make_library(body: NewLibrary, request: Request) -> DraftOut:
    """Name a new library; upload files and start a job to fill it."""
    jobs, sender, name = _jobs(request), sender_of(request), check_name(body.name)
    if any(one.name == name for one in parts_of(request).libraries.list_all(sender.seen_as)):
        raise BadInput(f"There is a library called “{name}” already; choose another name.")
    keys = (sender.holder,) if sender.holder and sender.scope != "admin" else ()
    file = LibraryFile(make_id(), name, body.description, keys=keys)
    draft = name_draft(jobs.folder, file.id)
    with translate_write_errors("the library", jobs.folder):
        draft.mkdir(mode=0o700, parents=True)
        file.write(draft)
    return DraftOut(id=file.id, name=name, files=[])


@changes.get("/v1/libraries/{id}/files")
def list_files(id: LibraryId, request: Request) -> DraftOut:
    """The files that were uploaded for a library and have not been read yet, with how much of each is there."""
    found = _find(request, id)
    return DraftOut(id=found.id, name=found.name, files=list_uploads(name_draft(_jobs(request).folder, found.id)))


@changes.put(
    "/v1/libraries/{id}/files/{name}",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def upload_file(
    id: LibraryId,
    name: FileName,
    request: Request,
    total: Annotated[int, Query(ge=1, description="Bytes of the whole file.")],
    offset: Annotated[int, Query(ge=0, description="Where in the file this part begins; 0 begins it anew.")] = 0,
    upload: Annotated[
        str, Query(max_length=40, description="What the first part was answered with, with every later part.")
    ] = "",
    sha256: Annotated[
        str, Query(pattern="^([0-9a-fA-F]{64})?$", description="Of the whole file, to be checked at its end.")
    ] = "",
) -> UploadOut:
    """Send a file, or the next part of it: at most 8 MB at once. After a broken connection send on from what was received."""
    found = await run_sync(_find_kept, request, id)
    chunk = await request.body()
    if len(chunk) > MOST_CHUNK:
        raise problems.Refused(f"Expected at most {MOST_CHUNK:,} bytes at once, got {len(chunk):,}; send the file in parts.", 413)
    jobs, most = _jobs(request), parts_of(request).upload_bytes

    def keep() -> UploadOut:
        jobs.check_unread(found.id, name)
        return add_chunk(name_draft(jobs.folder, found.id), name, chunk, offset, total, most, upload, sha256)

    return await run_sync(keep)


@changes.delete("/v1/libraries/{id}/files/{name}", status_code=204)
def remove_file(id: LibraryId, name: FileName, request: Request) -> None:
    """Remove an uploaded file that has not been read."""
    found = _find_kept(request, id)
    _jobs(request).check_unread(found.id, name)
    remove_upload(name_draft(_jobs(request).folder, found.id), name)


class SearchPreview(BaseModel):
    """What a search would fetch."""

    found: int = Field(description="How many papers it finds.")
    titles: list[str] = Field(description="The first few.")


class CollectionOut(OfValue):
    """A collection of Zotero."""

    key: str
    path: list[str] = Field(description="Its names, from the outermost collection down.")
    items: int = Field(description="How many items it has, without those of the collections in it.")


class CollectionList(BaseModel):
    """The collections of a library of Zotero, as a tree in order."""

    collections: list[CollectionOut]


def _check_at_machine(request: Request) -> None:
    sender = sender_of(request)
    if sender.holder or sender.scope != "admin":
        raise problems.Refused(
            "The Zotero on this machine is for the person at it: open the link that `counterpoint serve` printed.", 403
        )


@changes.get("/v1/zotero", responses=problems.responses(502))
def list_zotero_collections(request: Request) -> CollectionList:
    """The collections of the Zotero on this machine, which must be open; for the person at the machine alone."""
    _check_at_machine(request)
    return CollectionList.model_validate({"collections": list_zotero()})


@changes.post("/v1/zotero", responses=problems.responses(502))
def list_zotero_web_collections(body: ZoteroKey, request: Request) -> CollectionList:
    """The collections of a library at zotero.org, with the scope `admin`. A key that reads it is kept for later syncs,
    where nobody else reads it, and is never given out again."""
    request.app.state.gate.require(request, "admin")
    key = body.key.get_secret_value().strip()
    if not (key.isascii() and key.isalnum()) and key:
        raise BadInput("Expected a key of Zotero's, of letters and digits alone; copy it anew from zotero.org/settings/keys.")
    return CollectionList.model_validate({"collections": list_zotero_web(body.library, key, _place_key(request, body.library))})


@changes.delete("/v1/zotero", status_code=204)
def forget_zotero_key(
    request: Request, of: Annotated[str, Query(pattern=ZOTERO_LIBRARY, min_length=7, description="users/ID or groups/ID.")]
) -> None:
    """Forget the key that you gave for a library at zotero.org."""
    request.app.state.gate.require(request, "admin")
    _place_key(request, of).unlink(missing_ok=True)


def _place_key(request: Request, library: str) -> PathOnDisk:
    return name_key(_jobs(request).folder, sender_of(request).holder, library)


def _choose_zotero(request: Request, found: Library, body: LibraryWork) -> Zotero | None:
    """The collection that a job takes: the one asked for or, for a sync, the one taken before. Whoever may not is refused."""
    if not (body.zotero or body.sync):
        return None
    if not (body.zotero and not body.zotero.library):
        request.app.state.gate.require(request, "admin")
    kept = read_link(name_linked(_jobs(request).folder, found.id))
    known = None
    if kept:
        library = kept.source.library if kept.source.interface == "web" else ""
        from_file = kept.source.key_from
        known = Zotero(collection=kept.collection or "all", pdfs=kept.pdfs, library=library, key_from=from_file)
    if body.sync:
        if known is None:
            raise BadInput(f"{found.name} has no papers of a collection of Zotero yet; choose a collection first.")
        wanted = known
    else:
        assert body.zotero
        place = _place_key(request, body.zotero.library) if body.zotero.library else None
        wanted = Zotero(**body.zotero.model_dump(), key_from=str(place) if place and place.exists() else "")
        if known and (known.collection, known.library) != (wanted.collection, wanted.library):
            raise BadInput(f"{found.name} is linked to another collection of Zotero; make another library for this one.")
    if not wanted.library:
        _check_at_machine(request)
    elif wanted.key_from and not PathOnDisk(wanted.key_from).exists():
        raise BadInput(f"The key for {wanted.library} at zotero.org is not here any more; give it again, then sync.")
    return wanted


@changes.post("/v1/preview", responses=problems.responses(502))
def preview_search(body: SearchIn) -> SearchPreview:
    """How many papers a search of PubMed or Europe PMC finds, and the first titles; nothing is kept."""
    body.check()
    found, papers = look_up(body.source, body.query)
    return SearchPreview(found=found, titles=[one.title for one in papers])


class PaperOfLibrary(RankedPaper):
    """A paper in the list of a library."""

    full_text: bool = Field(description="Whether its full text is in the library.")


class PaperList(BaseModel):
    """Papers of a library."""

    total: int = Field(description="How many there are of those asked for.")
    papers: list[PaperOfLibrary]


@router.get("/v1/libraries/{id}/papers")
def list_papers(
    id: LibraryId,
    request: Request,
    q: Annotated[str, Query(max_length=500, description="Words of title, authors, journal or id.")] = "",
    since: Annotated[int | None, Query(ge=0, le=9999, description="From this year on.")] = None,
    until: Annotated[int | None, Query(ge=0, le=9999, description="Up to this year.")] = None,
    retracted: Annotated[bool | None, Query(description="Only retracted papers, or only others.")] = None,
    full_text: Annotated[bool | None, Query(description="Only papers with a full text, or only others.")] = None,
    sort: Sort = "id",
    begin: Annotated[int, Query(ge=0, le=10_000_000, description="The first place of the list.")] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> PaperList:
    """The papers of a library, by what is known of them."""
    libraries = parts_of(request).libraries
    library = libraries.find(id, sender_of(request).seen_as)
    with libraries.open(library).lease() as serving:
        store = serving.index.store
        if not isinstance(store, Store):
            raise problems.Refused("The papers of an index on a cluster are not listed; search them.", 409)
        total, entries = store.browse(Wanted(q, since, until, retracted, full_text, sort), begin, begin + limit)
        texts = store.full_texts([entry.pmid for entry in entries])
    papers = [
        PaperOfLibrary(rank=rank, full_text=entry.pmid in texts, **facts_of(entry.document))
        for rank, entry in enumerate(entries, begin + 1)
    ]
    return PaperList(total=total, papers=papers)


@changes.post("/v1/libraries/{id}/jobs", status_code=202)
def start_job(id: LibraryId, body: LibraryWork, request: Request) -> JobOut:
    """Read uploaded files into a library, fetch papers for it or remove some; the job goes on by itself."""
    found, work = _find_kept(request, id), body.read()
    work = replace(work, zotero=_choose_zotero(request, found, body))
    jobs, draft = _jobs(request), name_draft(_jobs(request).folder, found.id)
    waiting = {one.name for one in list_uploads(draft) if one.whole}
    if missing := [name for name in work.files if name not in waiting]:
        raise BadInput(f"“{missing[0]}” has not been uploaded whole; send the rest of it first.")
    jobs.check_unread(found.id, *work.files)
    _check_room(request, found, work)
    if work.joins:
        _check_joined(request, found, work, body.confirmed)
    said: tuple[str, ...] = ()
    if packs := [name for name in work.files if is_pack(draft / "files" / name)]:
        if found.place != draft or work != Work(tuple(packs[:1]), vectors=work.vectors):
            raise BadInput(f"“{packs[0]}” is a whole library; restore it by itself, as a new library.")
        pack = read_pack(draft / "files" / packs[0])
        _check_room(request, found, work, pack.manifest.counts.documents)
        found, said = _take_id(request, found, pack.library.id)
    return jobs.add(found.id, work, said).show(found.name)


def _check_joined(request: Request, library: Library, work: Work, confirmed: bool) -> None:
    """Refuse to join a file to a paper as its full text if it cannot be read or, until that is confirmed, if it is doubtful."""
    libraries, draft = parts_of(request).libraries, name_draft(_jobs(request).folder, library.id)
    if len(work.files) != 1 or work != Work(work.files, vectors=work.vectors, joins=work.joins) or library.place == draft:
        raise BadInput("Expected one uploaded file to join to a paper of the library, and nothing else to do.")
    with libraries.open(library).lease() as serving:
        doubts = find_doubts(draft / "files" / work.files[0], serving.index.store, work.joins)
    if doubts and not confirmed:
        raise problems.Refused(f"{doubts}; send it with `confirmed` to join it all the same.", 409)


def _check_room(request: Request, library: Library, work: Work, asked: int = 0) -> None:
    """Refuse what would make a library larger than it may be, as far as that is known before the work begins."""
    most, held = parts_of(request).library_papers, library.manifest.counts.documents if library.manifest else 0
    asked += sum(search.most for search in work.searches)
    if work.zotero:
        with suppress(CounterpointError):  # the job will say it
            wanted = [
                one.items
                for one in list_zotero(work.zotero.library, work.zotero.key_from)
                if work.zotero.collection in ("all", one.key)
            ]
            asked += max(0, max(wanted, default=0) - held)
    if asked and held + asked > most:
        room = f"{library.name} may hold {format_count(most, 'paper')} and has {held:,}"
        raise BadInput(
            f"{room}, so {asked:,} more are too many; ask for {max(0, most - held):,} at most, or make another library."
        )


def _take_id(request: Request, draft: Library, id: str) -> tuple[Library, tuple[str, ...]]:
    """Give a library that is to be restored the id that it had, unless that is in use; with what is to be said of it."""
    jobs, place = _jobs(request), name_draft(_jobs(request).folder, id)
    if id == draft.id:
        return draft, ()
    goes_on = any(job.state in UNFINISHED for job in jobs.list([draft.id]))
    if goes_on or not is_id(id) or parts_of(request).libraries.find_place(id) or place.exists():
        return draft, (f"It has the new id {draft.id}: the one in the pack is in use here.",)
    with translate_write_errors("the library", jobs.folder):
        os.rename(draft.place, place)
        LibraryFile(id, draft.name, draft.description, keys=draft.keys).write(place)
    return replace(draft, id=id, place=place, folder=place), ()


class PackOut(BaseModel):
    """A library as one file, which can be fetched for a minute."""

    address: str = Field(description="Where it is, without a key; for one minute.")
    name: str = Field(description="What the file is called.")
    bytes: int = Field(description="How long it is.")


@changes.post("/v1/libraries/{id}/pack", status_code=201)
def pack_library(id: LibraryId, request: Request) -> PackOut:
    """Pack a library into one file, to keep, to move or to restore: its name, texts and vectors, without keys and history."""
    found, folder = _find(request, id), _jobs(request).folder
    if is_address(found.place) or found.place == name_draft(folder, found.id):
        raise problems.Refused("Only a library that is in a folder and has papers is packed.", 409)
    size, _ = write_pack(found.place)
    return PackOut(address=f"v1/packs/{uploads.give_ticket(folder, found.id)}", name=f"{found.name}{SUFFIX}", bytes=size)


tickets = APIRouter(responses=problems.responses(404, 409, 422, 429, 500, 503))


@tickets.get(
    "/v1/packs/{ticket}",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/octet-stream": {"schema": _BINARY}}}},
)
def fetch_pack(
    ticket: Annotated[str, Path(max_length=100, description="From the call that packs a library.")], request: Request
) -> Response:
    """Fetch a library as one file; the ticket stands for the key."""
    libraries, id = parts_of(request).libraries, uploads.take_ticket(_jobs(request).folder, ticket)
    found = next((one for one in libraries.seen_by(None) if one.id == id), None)
    if found is None:
        raise problems.Refused("This address was for one minute; ask for the library again.", 404)
    size, pieces = write_pack(found.place)
    name = f"attachment; filename=\"library{SUFFIX}\"; filename*=UTF-8''{quote(found.name + SUFFIX)}"
    headers = {"Content-Disposition": name, "Content-Length": str(size), "Cache-Control": "no-store"}
    return StreamingResponse(pieces, media_type="application/octet-stream", headers=headers)


@router.get("/v1/jobs")
def list_jobs(request: Request) -> JobList:
    """The jobs on the libraries that you may see, newest first."""
    found = []
    for job in _jobs(request).list():
        try:
            found.append(job.show(_find(request, job.library).name))
        except NoSuchLibrary:
            continue
    return JobList(jobs=found[:100])


@router.get("/v1/jobs/{id}")
def see_job(id: JobId, request: Request) -> JobOut:
    """How far a job is; ask again every second or two."""
    return _see_job(request, id)


@router.get("/v1/jobs/{id}/report", response_class=PlainTextResponse)
def job_report(id: JobId, request: Request) -> Response:
    """Everything that a job told, as a text: what came in, what was left out and why."""
    _see_job(request, id)
    text = "\n".join(_jobs(request).get(id).said)
    return PlainTextResponse(f"{text}\n", headers={"Content-Disposition": f'attachment; filename="job-{id}.txt"'})


@changes.post("/v1/jobs/{id}/stop")
def stop_job(id: JobId, request: Request) -> JobOut:
    """Stop a job; what it has read is kept, and it goes on from there when it is resumed."""
    _see_job(request, id)
    _jobs(request).stop(id)
    return _see_job(request, id)


@changes.post("/v1/jobs/{id}/resume")
def resume_job(id: JobId, request: Request) -> JobOut:
    """Resume a job that was stopped or failed."""
    _see_job(request, id)
    _jobs(request).restart(id)
    return _see_job(request, id)


class Deletion(BaseModel):
    """A library that was deleted."""

    id: str
    name: str
    saved: int = Field(description="How many saved claims went with it.")
    shared: int = Field(description="How many shared results went with it.")


@changes.delete("/v1/libraries/{id}")
def delete_library(
    id: LibraryId,
    request: Request,
    confirmed: Annotated[bool, Query(description="Delete it although saved claims or shared results depend on it.")] = False,
) -> Deletion:
    """Delete a library or one that is only named, with its files, jobs, history, saved claims, alerts and shared results."""
    found, parts, runner = _find_kept(request, id), parts_of(request), _runner(request)
    memory = parts.memory
    saved, shared = (memory.saved.count(found.id)[0], memory.shared.count(found.id)) if memory else (0, 0)
    if (saved or shared) and not confirmed:
        counted = ((saved, "saved claim"), (shared, "shared result"))
        depending = " and ".join(format_count(number, name) for number, name in counted if number)
        raise problems.Refused(
            f"{depending} depend{'s' if saved + shared == 1 else ''} on {found.name}; delete it with `confirmed=true`.", 409
        )
    runner.jobs.forget(found.id)
    parts.libraries.delete(found.id)
    runner.clear(found.id)
    return Deletion(id=found.id, name=found.name, saved=saved, shared=shared)
