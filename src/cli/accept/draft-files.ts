/** What files would hold with values taken in. Nothing is written here. */
import { contentStart, type DocumentEdit, editText } from '../../manifest/edit/edit-document.ts';
import { UnusualYaml } from '../../manifest/edit/source-tree.ts';
import type { FileDrafts } from '../../manifest/load-documents.ts';
import type { Registry } from '../../model/kind/kind.ts';
import type { KnownSecrets } from '../../model/redaction/known-secrets.ts';
import { hidesMore } from './patch.ts';
import { notEditable, type LocatedChange } from './place-taking.ts';
import { type Refusal, refuseSecret } from './taking.ts';

interface Drafted {
  readonly drafts: FileDrafts;
  /** what cannot be written; the drafts of its files lack all that was to be written there */
  readonly refusals: readonly Refusal[];
}

interface DraftContext {
  /** what files would hold already; the documents are those of these texts */
  readonly drafts: FileDrafts;
  readonly kinds: Registry;
  readonly secrets: Pick<KnownSecrets, 'isIn'>;
}

export function draftFiles(placed: readonly LocatedChange[], { drafts, ...context }: DraftContext): Drafted {
  const texts = new Map(drafts);
  const refusals: Refusal[] = [];
  for (const [file, members] of Map.groupBy(placed, (one) => one.file)) {
    const edited = edit(members);
    if (edited instanceof UnusualYaml) refusals.push(...findCulprits(members, edited));
    else if (holdsUnseen(members, edited, context)) refusals.push(...findUnseen(members, context));
    else texts.set(file, edited);
  }
  return { drafts: texts, refusals };
}

function edit(members: readonly LocatedChange[]): string | undefined | UnusualYaml {
  try {
    const [first] = members;
    return first && editText(first.document.source, editsOf(members));
  } catch (error) {
    if (error instanceof UnusualYaml) return error;
    throw error;
  }
}

/** Those that cannot be written alone either; all of them, where each can. */
function findCulprits(members: readonly LocatedChange[], error: UnusualYaml): Refusal[] {
  const alone = members.flatMap((one) => {
    const edited = edit([one]);
    return edited instanceof UnusualYaml ? [notEditable(one.taking, edited, one.place)] : [];
  });
  return alone.length > 0 ? alone : members.map(({ taking, place }) => notEditable(taking, error, place));
}

/** Those whose text has, alone too, what no patch shows; all of them, where each alone shows. */
function findUnseen(members: readonly LocatedChange[], context: Omit<DraftContext, 'drafts'>): Refusal[] {
  const alone = members.filter((one) => {
    const edited = edit([one]);
    return !(edited instanceof UnusualYaml) && holdsUnseen([one], edited, context);
  });
  const unseen = alone.length > 0 ? alone : members;
  return unseen.map(({ taking, place }) => refuseSecret(taking, place));
}

/** Whether a new text has what its patch would hide, or a secret of this run, and the old one had not. */
function holdsUnseen(
  members: readonly LocatedChange[],
  after: string | undefined,
  { kinds, secrets }: Omit<DraftContext, 'drafts'>,
): boolean {
  const before = textOf(members);
  if (after === undefined) return false;
  // Users choose keys of maps, and one of them may be a secret, too.
  const isKnown = members.some(
    ({ taking: { path, value } }) => value !== undefined && secrets.isIn([...path.map(String), value]),
  );
  return isKnown || hidesMore({ before, after }, kinds) || (secrets.isIn(after) && !secrets.isIn(before));
}

function textOf([first]: readonly LocatedChange[]): string {
  return first?.document.source.text ?? '';
}

function editsOf(members: readonly LocatedChange[]): DocumentEdit[] {
  const byDocument = Map.groupBy(members, ({ document }) => document);
  return [...byDocument].map(([document, takings]): DocumentEdit => {
    const at = contentStart(document);
    if (takings.some(({ edit }) => edit === 'remove')) return { at, remove: true };
    return {
      at,
      values: takings.flatMap(({ edit }) => (edit === 'remove' ? [] : edit)),
    };
  });
}
