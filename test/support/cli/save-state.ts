/** Saves a state as a client does: with the lock held, with its serial and its MD5. */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { TestClient } from '../server/serve-for-test.ts';

/** @param instances how many resources the state manages */
export async function saveState(
  client: TestClient,
  workspace: string,
  {
    serial = 1,
    instances,
    intermediate = false,
  }: { serial?: number; instances: number; intermediate?: boolean },
): Promise<void> {
  const resources =
    instances === 0 ? [] : [{ mode: 'managed', type: 't', name: 'n', instances: Array(instances).fill({}) }];
  const text = JSON.stringify({ version: 4, serial, lineage: 'l', outputs: {}, resources });
  const attributes = {
    serial,
    lineage: 'l',
    intermediate,
    md5: createHash('md5').update(text).digest('hex'),
    state: Buffer.from(text).toString('base64'),
  };
  await client.post(`/workspaces/${workspace}/actions/lock`, {});
  const saved = await client.post(`/workspaces/${workspace}/state-versions`, {
    data: { type: 'state-versions', attributes },
  });
  expect(saved.status).toBe(201);
  // A forced unlock does not make an intermediate state the current one.
  await client.post(`/workspaces/${workspace}/actions/${intermediate ? 'force-unlock' : 'unlock'}`, {});
}
