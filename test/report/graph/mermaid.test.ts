import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdReference } from '../../../src/model/call.ts';
import { readAddress } from '../../../src/model/address.ts';
import { renderMermaid } from '../../../src/report/markdown/mermaid.ts';
import { anyPlan } from '../../support/report/arbitrary-plan.ts';
import { attackingPlan } from '../../support/report/markdown-attacks.ts';
import { call, change, plan } from '../../support/report/small-plan.ts';

const sample = (name: string) => ({ kind: 'Toy', target: 'acme', name });

/** Every line that our diagrams may have; labels consist of plain characters and numbered ones. */
const label = String.raw`"(?:[\w ./<>-]|#\d+;)*"`;
const ownLines = new RegExp(
  String.raw`^(?:flowchart LR|  accTitle: [\w .,?-]*|  subgraph t\d+\[${label}\]|    n\d+\[${label}\]:::\w+|  end|  more\[${label}\]|  n\d+ --> n\d+|  classDef \w+ stroke:#\w+,stroke-width:2px)$`,
);

describe('the graph of a plan', () => {
  it('draws dependencies: a needed call, a reference to an id, a shared call', () => {
    const text = renderMermaid(
      plan({
        changes: [
          change({
            action: 'create',
            address: sample('box'),
            calls: [
              call({ id: 'one', createsId: { address: readAddress('Toy/acme/box'), pointer: '/data/id' } }),
            ],
          }),
          change({
            address: sample('ball'),
            calls: [call({ id: 'two', body: { in: new IdReference(readAddress('Toy/acme/box')) } })],
          }),
          change({
            address: sample('old'),
            action: 'delete',
            calls: [call({ id: 'three', needs: ['two'] })],
          }),
          change({ address: sample('part'), action: 'create', sharedCall: 'one' }),
        ],
      }),
    );
    expect(text).toMatchInlineSnapshot(`
      "flowchart LR
        accTitle: 4 changes of nursery
        subgraph t0["acme"]
          n0["#43; create<br>Toy/acme/box"]:::createChange
          n1["#126; update<br>Toy/acme/ball"]:::updateChange
          n2["- delete<br>Toy/acme/old"]:::deleteChange
          n3["#43; create<br>Toy/acme/part"]:::createChange
        end
        n0 --> n1
        n1 --> n2
        n0 --> n3
        classDef createChange stroke:#1a7f37,stroke-width:2px
        classDef deleteChange stroke:#cf222e,stroke-width:2px
        classDef updateChange stroke:#9a6700,stroke-width:2px"
    `);
  });

  it('groups changes by kind, target and action if there are more than a platform draws', () => {
    const many = Array.from({ length: 900 }, (_, index) =>
      change({
        address: sample(`toy-${index}`),
        action: index % 3 === 0 ? 'create' : 'delete',
        calls: [call({ id: `call-${index}`, needs: index % 3 === 0 ? [] : [`call-${index - (index % 3)}`] })],
      }),
    );
    const text = renderMermaid(plan({ changes: many }));
    expect(text).toContain('n0["#43; create<br>300 Toy"]');
    expect(text).toContain('n1["- delete<br>600 Toy"]');
    expect(text).toContain('n0 --> n1');
    expect(text).toContain('accTitle: 900 changes of nursery, grouped');
  });

  it('counts the groups and arrows that it leaves out', () => {
    const many = Array.from({ length: 250 }, (_, index) =>
      change({
        address: { kind: 'Toy', target: `t${index}`, name: 'ball' },
        calls: [call({ id: `call-${index}`, needs: index === 0 ? [] : [`call-${index - 1}`] })],
      }),
    );
    expect(renderMermaid(plan({ changes: many }))).toContain('more["and 50 more boxes and 50 more arrows"]');
  });

  it('has no line that a name added, and is never too large to be drawn', () => {
    fc.assert(
      fc.property(fc.oneof(attackingPlan, anyPlan), (any) => {
        const text = renderMermaid(any);
        expect(text.length).toBeLessThan(50_000);
        expect(text.split('\n').filter((line) => !ownLines.test(line))).toEqual([]);
      }),
    );
  });
});
