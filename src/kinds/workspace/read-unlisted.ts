/** Reads recorded workspaces that the list lacks. One that is found by its id proves that the list is not complete. */
import { parseAddress } from '../../model/address.ts';
import { WireError } from '../../model/http.ts';
import type { ReadRequest, Session } from '../../model/kind.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import type { WorkspaceList } from '../../api/workspaces/list-workspaces.ts';
import { belongs, readWorkspaceAnywhere } from '../../api/workspaces/read-workspace.ts';
import { listFix, relatedId, type WorkspaceItem } from '../../api/workspaces/workspace.ts';

/**
 * A list can lack a workspace that is renamed while it is read. One that cannot be read counts as existing (`unseen`), unless another
 * workspace has its name now.
 */
export async function readUnlisted(
  session: Session,
  list: WorkspaceList,
  { records, deleted }: Pick<ReadRequest, 'records' | 'deleted'>,
) {
  const missing = [...records].flatMap(([text, { id }]) =>
    id === undefined || list.byId.has(id) || deleted?.has(text) ? [] : [{ text, id }],
  );
  const readings = await Promise.all(
    missing.map(async ({ text, id }) => ({ text, ...(await readById(session, id)) })),
  );
  const items = readings.flatMap(({ item }) =>
    item === undefined ? [] : [{ ...item, unlisted: true as const }],
  );
  return {
    items,
    incomplete: [
      // If the list itself shows that it is not complete, that is the reason.
      ...(list.incomplete.length > 0 ? [] : unlistedProblems(session, items)),
      ...readings.flatMap(({ unread }) => unread ?? []),
    ],
    elsewhere: readings.flatMap(({ text, elsewhere }) =>
      elsewhere === undefined ? [] : [[text, elsewhere] as const],
    ),
    unseen: readings.flatMap(({ text, unread }) =>
      unread === undefined || list.byName.has(parseAddress(text).name) ? [] : [[text, unread] as const],
    ),
  };
}

/** A list that lacks workspaces that exist may lack others, too. */
function unlistedProblems({ target }: Session, found: readonly WorkspaceItem[]): string[] {
  const names = [...new Set(found.map(({ name }) => name))].sort();
  if (names.length === 0) return [];
  const [verb, ids] = names.length === 1 ? ['is', 'its id'] : ['are', 'their ids'];
  const where = `the list of workspaces of organization ${quoted(target.organization ?? '')}`;
  return [
    `${where} lacks ${quoteSome(names)}, which ${verb} found by ${ids}, so it may lack others, too: ${listFix}`,
  ];
}

interface ReadById {
  readonly item?: WorkspaceItem;
  /** why it could not be read */
  readonly unread?: string;
  /** where it is, if not in this target: then the record was made for another organization */
  readonly elsewhere?: string;
}

async function readById(session: Session, id: string): Promise<ReadById> {
  try {
    const item = await readWorkspaceAnywhere(session, id);
    if (item === undefined || (await belongs(session, item))) return item === undefined ? {} : { item };
    const home = relatedId(item, 'organization');
    const where =
      home === null
        ? `not in organization ${quoted(session.target.organization ?? '')}`
        : `in organization ${quoted(home)}`;
    return { elsewhere: `the workspace ${quoted(item.name)} (${id}) is ${where}` };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { unread: `a workspace in the ledger could not be read: ${error.message}` };
  }
}
