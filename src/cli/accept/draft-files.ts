/** What files would hold with values taken in. Nothing is written here. */
import { type DocumentEdit, documentAt, editText } from '../../manifest/edit/edit-document.ts';
import { UnusualYaml } from '../../manifest/edit/source-tree.ts';
import type { FileDrafts } from '../../manifest/load-documents.ts';
import { notEditable, type PlacedTaking } from './place-taking.ts';
import type { Refusal } from './taking.ts';

interface Drafted {
  readonly drafts: FileDrafts;
  /** what cannot be written; the drafts of its files lack all that was to be written there */
  readonly refusals: readonly Refusal[];
}

/** @param drafts what files would hold already; the documents are those of these texts */
export function draftFiles(placed: readonly PlacedTaking[], drafts: FileDrafts): Drafted {
  const texts = new Map(drafts);
  const refusals: Refusal[] = [];
  for (const [file, members] of Map.groupBy(placed, (one) => one.file)) {
    const edited = edit(members);
    if (edited instanceof UnusualYaml) refusals.push(...findCulprits(members, edited));
    else texts.set(file, edited);
  }
  return { drafts: texts, refusals };
}

function edit(members: readonly PlacedTaking[]): string | undefined | UnusualYaml {
  try {
    return editText(textOf(members), editsOf(members));
  } catch (error) {
    if (error instanceof UnusualYaml) return error;
    throw error;
  }
}

/** Those that cannot be written alone either; all of them, where each can. */
function findCulprits(members: readonly PlacedTaking[], error: UnusualYaml): Refusal[] {
  const alone = members.flatMap((one) => {
    const edited = edit([one]);
    return edited instanceof UnusualYaml ? [notEditable(one.taking, edited, one.place)] : [];
  });
  return alone.length > 0 ? alone : members.map(({ taking, place }) => notEditable(taking, error, place));
}

function textOf([first]: readonly PlacedTaking[]): string {
  return first?.document.source.text ?? '';
}

function editsOf(members: readonly PlacedTaking[]): DocumentEdit[] {
  const byDocument = Map.groupBy(members, ({ document }) => document);
  return [...byDocument].map(([document, takings]): DocumentEdit => {
    const number = documentAt(document);
    if (takings.some(({ edit }) => edit === 'remove')) return { document: number, remove: true };
    return {
      document: number,
      values: takings.flatMap(({ edit }) => (edit === 'remove' ? [] : edit)),
    };
  });
}
