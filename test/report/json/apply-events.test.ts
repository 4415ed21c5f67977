import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, it } from 'vitest';
import type { Change } from '../../../src/model/change.ts';
import { applyEventSchema } from '../../../src/report/json/result-schemas.ts';
import {
  diagnosticEvent,
  type EventMembers,
  planEvent,
  progressEvent,
  renderEventJson,
} from '../../../src/report/json/apply-events.ts';
import { change, place, plan, problem } from '../../support/report/small-plan.ts';

const address = { kind: 'Toy', target: 'acme', name: 'ball\u202e' };
const update: Change = change({ address });

it('the events of an apply equal the golden file, and are valid against their schema', async () => {
  const outcome = {
    address,
    action: 'update',
    kind: 'failed',
    detail: 'the service says "no"\n::error::x',
  } as const;
  const events: readonly EventMembers[] = [
    { type: 'started', trueup: '1.2.3' },
    diagnosticEvent(problem({ place: place(), fix: 'write "adopt: true"' })),
    planEvent(plan({ changes: [update] })),
    progressEvent({ type: 'begin', changes: 1, calls: 2 }),
    progressEvent({ type: 'start', change: update }),
    progressEvent({ type: 'end', outcome, finished: 1, changes: 1 }),
    {
      type: 'ended',
      exitCode: 1,
      outcomes: { applied: 0, unchanged: 0, stale: 0, skipped: 0, failed: 1, unknown: 0 },
    },
  ];
  const check = addFormats.default(new Ajv2020({ strict: false, allErrors: true })).compile(applyEventSchema);
  const lines = events.map((event, seq) => renderEventJson(event, { seq, time: 1_795_383_388_000 }));
  for (const line of lines) {
    check(JSON.parse(line));
    expect(check.errors ?? [], line).toEqual([]);
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('apply-events.golden.jsonl');
});
