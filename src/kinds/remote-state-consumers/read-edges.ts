/** Reads the consumers of one workspace as edges, name to id. A workspace that shares with all has none to read (rule 10). */
import { encodeBrackets, type Pages, readPages } from '../../http/read-pages.ts';
import { counted } from '../../model/counted.ts';
import type { Session } from '../../model/kind/kind.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import { describeAnswer } from '../../model/wire.ts';
import { quoted } from '../../model/quoted.ts';
import { asWorkspaceItem, type WorkspaceItem } from '../../services/workspaces/workspace-item.ts';

/** `global` and `project`: whether it is shared with all of the organization or project; `edges` only if with neither. */
type ConsumerFacts = {
  readonly global?: boolean;
  readonly project?: boolean;
  readonly edges?: Edges;
  /** the service has no consumers: nobody can tell who reads the state */
  readonly untold?: true;
};

/** The consumers of a state by name; absent where it is shared with all. */
export type LiveConsumers = LiveResource<{ readonly consumers?: readonly string[] }, ConsumerFacts>;

/** Consumers by name, each with its id. */
type Edges = Readonly<Record<string, string>>;

type EdgesAnswer =
  | { readonly edges: Edges; readonly note?: string }
  /** `missing`: the service answers that there is nothing at this path */
  | { readonly edges?: never; readonly problem: string; readonly missing?: true };

/**
 * With whom a state is shared as a whole: the service then lists all their workspaces, and none of them is an edge.
 * Sharing with the project is not in the specification; real services have it (wire/workspaces 1.5.3).
 */
export function sharedWith({ attributes }: WorkspaceItem): 'organization' | 'project' | undefined {
  if (attributes['global-remote-state'] === true) return 'organization';
  return attributes['project-remote-state'] === true ? 'project' : undefined;
}

/** @throws WireError when the service cannot be reached */
export async function readEdges(session: Session, item: WorkspaceItem): Promise<EdgesAnswer> {
  const pages = await readPages(session.reader, pathOf(item));
  const { missing = 0 } = pages;
  if (!pages.complete && missing === 0) {
    const isMissing = typeof pages.problem === 'object' && pages.problem.status === 404;
    return { problem: whyUnread(item, pages), ...(isMissing ? { missing: true } : {}) };
  }
  const consumers = pages.items.flatMap((document) => asWorkspaceItem(document) ?? []);
  const given = pages.items.length;
  const nameless = given - consumers.length;
  if (nameless > 0) {
    const have = nameless === 1 ? 'has' : 'have';
    return { problem: `${notAllRead(item)}: ${nameless} of ${given} in the list ${have} no name` };
  }
  const edges = Object.fromEntries(consumers.map(({ name, id }) => [name, id] as const));
  return { edges, ...(missing > 0 ? { note: unreadableNote(item, missing) } : {}) };
}

/**
 * Whether the service answers that there is nothing where the consumers are. Asks for one of them: a workspace that is shared with
 * all has as many as the organization.
 * @throws WireError when the service cannot be reached
 */
export async function lacksEdges(session: Session, item: WorkspaceItem): Promise<boolean> {
  const { status } = await session.reader.get(encodeBrackets(`${pathOf(item)}?page[size]=1`));
  return status === 404;
}

function pathOf({ id }: WorkspaceItem): string {
  return `/workspaces/${encodeURIComponent(id)}/relationships/remote-state-consumers`;
}

/** The note about consumers that the service counts but does not show: unknown edges are never removed. */
function unreadableNote({ name }: WorkspaceItem, count: number): string {
  const subject = count === 1 ? 'it is' : 'they are';
  return `${counted(count, 'consumer')} of workspace ${quoted(name)} cannot be read with this token: ${subject} left alone`;
}

function whyUnread(item: WorkspaceItem, { problem }: Pages): string {
  return `${notAllRead(item)}: ${typeof problem === 'object' ? describeAnswer(problem) : problem}`;
}

function notAllRead({ name }: WorkspaceItem): string {
  return `the remote state consumers of workspace ${quoted(name)} were not all read`;
}
