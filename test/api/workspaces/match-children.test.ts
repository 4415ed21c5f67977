import { describe, expect, it } from 'vitest';
import type { ReadRequest } from '../../../src/model/kind.ts';
import type { LedgerRecord } from '../../../src/model/ledger.ts';
import { matchChildren, type WorkspaceList } from '../../../src/api/workspaces/list-workspaces.ts';
import type { WorkspaceItem } from '../../../src/api/workspaces/workspace.ts';
import { readAddress } from '../../../src/model/address.ts';

const address = { kind: 'TagBindings', target: 'acme', name: 'web' };
const place = { file: 'a.yaml', line: 1, column: 1, length: 1, text: '' };

function item(id: string, name: string): WorkspaceItem {
  return { id, name, attributes: {}, relationships: {} };
}

function listOf(...items: WorkspaceItem[]): WorkspaceList {
  return {
    items,
    byId: new Map(items.map((one) => [one.id, one])),
    byName: new Map(items.map((one) => [one.name, one])),
    incomplete: [],
    limits: [],
    hasTags: true,
    tagged: new Set(),
    tagsOf: async () => ({ tags: { direct: {} } }),
  };
}

function recordOf(id: string): LedgerRecord {
  return { id, origin: 'created', fields: {} };
}

function wanted(child: LedgerRecord, parent: LedgerRecord): ReadRequest {
  return {
    declared: [
      { address, spec: {}, metadata: { name: 'web' }, place, placeOf: () => place, fromDefaults: [] },
    ],
    records: new Map([[readAddress('TagBindings/acme/web'), child]]),
    record: ({ kind }) => (kind === 'Workspace' ? parent : child),
  };
}

describe('The tags of a workspace that was renamed in the service', () => {
  it('are found through the record of the workspace, even if their own record has an old id', () => {
    const list = listOf(item('ws-new', 'web-by-hand'));
    const placed = matchChildren(list, wanted(recordOf('ws-gone'), recordOf('ws-new')), address);
    expect(placed).toEqual([{ address, item: item('ws-new', 'web-by-hand') }]);
  });

  it('are found through their own record if the record of the workspace is older', () => {
    const list = listOf(item('ws-new', 'web-by-hand'));
    const placed = matchChildren(list, wanted(recordOf('ws-new'), recordOf('ws-gone')), address);
    expect(placed).toEqual([{ address, item: item('ws-new', 'web-by-hand') }]);
  });
});
