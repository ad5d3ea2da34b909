"""Writing full texts to a cluster, beside the documents: they find their records, and follow them once all records are written.

What becomes of texts is decided where an index in a folder decides it (`indexes.full_texts`): for each batch the documents and
texts that it may concern are loaded into a small store, and what has changed there is sent back. A text is sent after its
passages, so that one which is there is whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from counterpoint.indexes.cluster.writer import (
    MOST_SOURCES,
    Action,
    BulkSender,
    ClusterWriter,
    Progress,
    WriteLock,
    delete_action,
    index_action,
    insist,
    list_cue_names,
    make_order,
    read_now,
    refresh,
)
from counterpoint.indexes.full_texts import Placed
from counterpoint.indexes.readers.exports.entry import Paper
from counterpoint.indexes.writer import Change, StoreWriter
from counterpoint.retrieval.cluster.client import Address, connect, translate_faults
from counterpoint.retrieval.cluster.mapping import make_source, read_row
from counterpoint.retrieval.cluster.search import check_complete, page_sources
from counterpoint.retrieval.cluster.texts import TEXT_ROW, make_passage_source, make_text_source, name_texts, read_text
from counterpoint.retrieval.core.values import Document, FullText
from counterpoint.retrieval.store.documents import Entry
from counterpoint.retrieval.store.manifest import STORE, TextPart
from counterpoint.retrieval.store.texts import make_part, name_passage, read_passage_name

_CANDIDATES = 20
_PAGE = 80
"""Texts that follow their records at once: what is written of them, three actions each at most, is one request."""
_LONGEST_TITLE = 500
Sources = dict[str, dict[str, Any]]
"""What the index of documents holds, by PMID."""


class TextsWriter(ClusterWriter):
    """A writer of records and of full texts."""

    def __init__(self, address: Address, name: str, progress: Progress, lock: WriteLock) -> None:
        super().__init__(address, name, progress, lock)
        self._texts, self._names = name_texts(name), list_cue_names()
        self._text_sender = BulkSender(address, self._texts)

    def find_by_doi(self, dois: Iterable[str]) -> list[Paper]:
        """The documents that have one of these DOIs, but for those that texts made of themselves: a record takes their place, and
        is not given their id."""
        papers = super().find_by_doi(dois)
        texts = read_now(self.address, self._texts, [paper.pmid for paper in papers], [TEXT_ROW])
        return [paper for paper in papers if not (paper.pmid in texts and texts[paper.pmid][TEXT_ROW][1])]

    def write_texts(self, texts: Sequence[FullText], source: int, end: int) -> tuple[Change, Placed]:
        """Begin to write a batch of full texts, behind the records that they make of themselves."""
        self.settle()
        self._lock.renew()
        refresh(self.address, self.name)
        order = make_order(self.progress.version, source, end)
        # What is in this place in the order already is from an attempt that was stopped, and is made again.
        before = {pmid: one for pmid, one in self._find_records([text.record for text in texts]).items() if one["order"] != order}
        with self._load(before) as store:
            change, placed = store.write_texts(texts, source, end)
            own = {pmid for pmid, *_ in change.written}
            actions = list[Action]()
            for row, written in (one for rows in store.rows() for one in rows):
                if row[0] in own or row != read_row(before[row[0]]):
                    place = order if row[0] in own else before[row[0]]["order"]
                    actions.append(index_action(row[0], make_source(row, written, place), place, again=True))
            self._sender.send(actions)
            self._sender.wait()
            self._send_texts(store, change, order)
        self._batch = (source, end, [])
        return change, placed

    def finish_texts(self) -> TextPart | None:
        """Let every text follow its record, once all records are written; what the manifest says of the texts."""
        self.settle()
        both, every = f"{self.name},{self._texts}", {"exists": {"field": "text_of"}}
        refresh(self.address, both)
        order = make_order(self.progress.version, MOST_SOURCES - 1, 0)
        for page in page_sources(self.address, self._texts, every, [TEXT_ROW, "title", "order"], _PAGE, "text_of"):
            self._lock.renew()
            self._follow({source[TEXT_ROW][0]: source for source in page}, order)
        self.settle()
        refresh(self.address, both)
        pages = page_sources(self.address, self._texts, every, [TEXT_ROW], 10 * _PAGE, "text_of")
        return make_part(source[TEXT_ROW] for page in pages for source in page)

    def _follow(self, texts: Sources, order: int) -> None:
        """Remove those of these texts whose record was deleted, take over the title of a revised or new one, and give a text that
        made a record of itself to another record of its paper."""
        records, deleted = read_now(self.address, self.name, list(texts)), list[str]()
        made, revised, change = Sources(), Sources(), Change([], [])
        for pmid, text in texts.items():
            record, (_, own, *_, passages, _, _) = records.get(pmid), text[TEXT_ROW]
            if record is None:
                deleted.append(pmid)
                change.passages_removed.extend(name_passage(pmid, number) for number in range(passages))
            elif own and record["order"] == text["order"]:
                made[pmid] = record
            elif own or record["title"] != text["title"]:
                revised[pmid] = record
        found = self._find_records([self._read(record) for record in made.values()])
        later = {pmid: record for pmid, record in found.items() if pmid not in texts}
        before = {pmid: record | {"title": texts[pmid]["title"]} for pmid, record in revised.items()}
        if not (deleted or revised or later):
            return
        with self._load(before | (made | later if later else {})) as store:
            assert store.tables
            held = store.tables.held(list(later))
            news = [self._read(record) for pmid, record in (revised | later).items() if pmid not in held]
            written = store.write(news, 0, 0, newest=False)
            change.passages_removed.extend(written.passages_removed)
            change.passages_written.extend(written.passages_written)
            self._send_texts(store, change, order, left=made.keys() & set(written.removed))

    def _read(self, source: dict[str, Any]) -> Document:
        return Entry(read_row(source), self._names).document

    def _find_records(self, records: Sequence[Document]) -> Sources:
        """The documents that may be the records of these papers: by PMID, PMCID, DOI and the words of the title."""
        lines: list[dict[str, Any]] = []
        for record in records:
            ids = {name: value for name in ("pmid", "pmcid", "doi") if (value := getattr(record, name))}
            either = [{"constant_score": {"filter": {"term": {name: value}}, "boost": 1e6}} for name, value in ids.items()]
            if title := record.title[:_LONGEST_TITLE]:
                either.append({"match": {"fields.title": {"query": title, "minimum_should_match": "75%"}}})
            if either:
                lines += [{"allow_partial_search_results": False}, {"query": {"bool": {"should": either}}, "size": _CANDIDATES}]

        def search() -> Sources:
            with translate_faults(self.address):
                responses = connect(self.address).msearch(index=self.name, body=lines)["responses"]
            for response in responses:
                check_complete(response, self.address)
            return {hit["_id"]: hit["_source"] for response in responses for hit in response["hits"]["hits"]}

        return insist(search) if lines else {}

    @contextmanager
    def _load(self, documents: Sources) -> Iterator[StoreWriter]:
        """A store of these documents and their texts."""
        texts = read_now(self.address, self._texts, list(documents))
        with (
            TemporaryDirectory() as folder,
            closing(StoreWriter(Path(folder) / STORE, self.progress.version, texts=True)) as store,
        ):
            store.adopt([(read_row(source), int(source["written"])) for source in documents.values()])
            store.adopt_texts([read_text(source, self._names) for source in texts.values()])
            yield store

    def _send_texts(self, store: StoreWriter, change: Change, order: int, left: Iterable[str] = ()) -> None:
        """Send the passages that have changed, then their texts together with the deletion of the documents that they left."""
        passages = {name: delete_action(name, order, again=True) for name in change.passages_removed}
        for name, title, words, *_ in change.passages_written:
            passages[name] = index_action(name, make_passage_source(name, title, words), order, again=True)
        texts = {pmid: delete_action(pmid, order, again=True) for pmid, _ in map(read_passage_name, passages)}
        assert store.tables
        for stored in store.tables.read_all(self._names):
            if stored.pmid in texts:
                source = make_text_source(stored, store.find_title(stored.pmid), order)
                texts[stored.pmid] = index_action(stored.pmid, source, order, again=True)
        self._text_sender.send(list(passages.values()))
        self._text_sender.send([*(delete_action(pmid, order, index=self.name) for pmid in left), *texts.values()])

    def settle(self) -> None:
        """Wait until the current batch is in, and save how far its source has been read."""
        self._text_sender.wait()
        super().settle()

    def close(self) -> None:
        """End the threads; what was sent stays."""
        self._text_sender.close()
        super().close()
