import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../../src/model/change.ts';
import type { FieldChange } from '../../../src/model/field.ts';
import { colourful, plain } from '../../../src/report/text/layout.ts';
import { renderPlan } from '../../../src/report/text/plan.ts';
import { call, change, place, plan, problem } from '../../support/report/small-plan.ts';
import { IdReference, SecretReference } from '../../../src/model/call.ts';
import { readAddress } from '../../../src/model/address.ts';

const paint = plain;

/** The report of these changes, without the heading of the target and the text after the changes. */
function changesText(changes: readonly Change[], options: { calls?: boolean; width?: number } = {}): string {
  const text = renderPlan(plan({ changes }), { paint, ...options });
  const summary = text.lastIndexOf('\n\n', text.indexOf('\n\nChecked') - 1);
  return text.slice(text.indexOf('\n\n') + 2, summary);
}

function fieldsText(...fields: FieldChange[]): string {
  return changesText([change({ fields })])
    .split('\n')
    .slice(2)
    .map((line) => line.slice(4))
    .join('\n');
}

describe('a whole plan', () => {
  it('shows changes with their places, then the summary with the digest, and finally what was read', () => {
    const text = renderPlan(
      plan({
        changes: [
          change({
            action: 'create',
            reason: 'declared, not live',
            address: { kind: 'Toy', target: 'acme', name: 'kite' },
            fields: [
              { path: ['colour'], after: 'red', shape: 'scalar' },
              { path: ['friends'], after: ['ann', 'bob'], shape: 'set' },
              { path: ['pause'], after: 5400, shape: 'duration' },
            ],
          }),
          change({ fields: [{ path: ['colour'], before: 'red', after: 'blue', shape: 'scalar' }] }),
          change({
            action: 'delete',
            reason: 'no longer declared',
            address: { kind: 'Toy', target: 'acme', name: 'old' },
          }),
        ],
      }),
      { paint, width: 80 },
    );
    expect(text).toMatchInlineSnapshot(`
      "acme  workspaces acme at https://toys.test, dialect neutral

      + create  Toy/acme/kite                                              toys.yaml:4
          declared, not live
          colour   red
          friends  ann, bob
          pause    1h30m

      ~ update  Toy/acme/ball                                              toys.yaml:4
          live differs from the manifest
          colour  red -> blue

      - delete  Toy/acme/old                                               toys.yaml:4
          no longer declared

      1 to create, 1 to update, 1 to delete, 3 unchanged
      stack nursery  digest 0123456789abcdef0123456789abcdef

      Checked
        manifests  1 file, 4 documents
        ledger     found
        acme       2 requests: 4 of 4 Toy"
    `);
  });

  it('reports what was left alone, what prevents applying, and what could not be read', () => {
    const shown = plan({
      notices: [
        {
          address: { kind: 'Toy', target: 'acme', name: 'clone' },
          message: 'bears our claim alone',
          fix: 'declare it, or remove its ownership tag',
        },
      ],
      problems: [problem({ place: place(), fix: 'add "adopt: true" below "metadata"' })],
      coverage: {
        ...plan().coverage,
        ledger: 'none',
        targets: plan().coverage.targets.map((target) => ({
          ...target,
          invisible: ['Toy.origin'],
          notes: ['the service has no bulk read'],
        })),
      },
    });
    expect(renderPlan(shown, { paint, width: 80 })).toMatchInlineSnapshot(`
      "Not changed
        Toy/acme/clone
          bears our claim alone
          fix: declare it, or remove its ownership tag

      Problems

      error[not-ours] toys.yaml:4:9
        Toy "ball" exists without an ownership tag
        4 |   name: ball
          |         ^^^^
        fix: add "adopt: true" below "metadata"

      1 error in 1 file

      1 problem forbids applying
      Nothing can be planned yet, 3 unchanged
      stack nursery  digest 0123456789abcdef0123456789abcdef

      Checked
        manifests  1 file, 4 documents
        ledger     none (first apply, or the ledger is lost): no field is reset, no
                   access revoked, and nothing removed without an acknowledgement
        acme       2 requests: 4 of 4 Toy
                   drift of 1 field cannot be seen: Toy.origin
                   the service has no bulk read"
    `);
  });

  it('groups changes by target when there are several, each in its own order', () => {
    const target = {
      service: 'workspaces' as const,
      url: 'https://toys.test',
      place: 'p',
      dialect: 'neutral',
    };
    const at = (name: string, where: string) => change({ address: { kind: 'Toy', target: where, name } });
    const text = renderPlan(
      plan({
        targets: [
          { ...target, name: 'one' },
          { ...target, name: 'two' },
        ],
        changes: [at('a', 'two'), at('b', 'one'), at('c', 'two')],
      }),
      { paint },
    );
    expect(text).toContain('3 to update, 3 unchanged\n  one  1 to update\n  two  2 to update\nstack nursery');
    const order = text.split('\n').filter((line) => /^(one|two|~)/.test(line));
    expect(order.map((line) => line.slice(0, 18).trim())).toEqual([
      'one  workspaces p',
      '~ update  Toy/one/',
      'two  workspaces p',
      '~ update  Toy/two/',
      '~ update  Toy/two/',
    ]);
  });

  it('describes neighbouring equal changes once', () => {
    const fields: FieldChange[] = [{ path: ['colour'], before: 'red', after: 'blue', shape: 'scalar' }];
    const samples = ['a', 'b', 'c'].map((name, index) =>
      change({ address: { kind: 'Toy', target: 'acme', name }, fields, place: place({ line: index + 1 }) }),
    );
    expect(changesText(samples, { width: 60 })).toMatchInlineSnapshot(`
      "~ update  Toy/acme/a                             toys.yaml:1
      ~ update  Toy/acme/b                             toys.yaml:2
      ~ update  Toy/acme/c                             toys.yaml:3
          live differs from the manifest (each of these 3)
          colour  red -> blue"
    `);
  });

  it('repeats the deletions at the end of a long plan', () => {
    const changes = Array.from({ length: 30 }, (_, index) =>
      change({
        action: index % 10 === 0 ? 'delete' : 'update',
        address: { kind: 'Toy', target: 'acme', name: `toy-${index}` },
      }),
    );
    const text = renderPlan(plan({ changes }), { paint });
    expect(text.slice(text.indexOf('In short'), text.indexOf('Checked'))).toMatchInlineSnapshot(`
      "In short
        acme/Toy  27 to update, 3 to delete
        to delete
          Toy/acme/toy-0, Toy/acme/toy-10, Toy/acme/toy-20

      27 to update, 3 to delete, 3 unchanged
      stack nursery  digest 0123456789abcdef0123456789abcdef

      "
    `);
  });

  it('has the same words and symbols in colours', () => {
    const shown = plan({
      changes: [change({ fields: [{ path: ['a'], before: 1, after: 2, shape: 'scalar' }] })],
    });
    const coloured = renderPlan(shown, { paint: colourful });
    expect(coloured).toContain('\u001b[');
    expect(stripVTControlCharacters(coloured)).toBe(renderPlan(shown, { paint }));
  });
});

describe('"No changes"', () => {
  const incomplete = {
    ...plan().coverage,
    complete: false,
    targets: [
      {
        ...plan().coverage.targets[0],
        target: 'acme',
        requests: 1,
        read: [],
        limits: [],
        invisible: [],
        notes: [],
        incomplete: ['page 3 was forbidden'],
      },
    ],
  };

  it('is printed when everything was read', () => {
    expect(renderPlan(plan(), { paint })).toMatch(/^No changes, 3 unchanged\n/);
  });

  it('is never printed after an incomplete read, which is explained instead', () => {
    const text = renderPlan(plan({ coverage: incomplete }), { paint });
    expect(text).not.toMatch(/no changes/i);
    expect(text).toContain('Found nothing to change, but the read was incomplete');
    expect(text).toContain('because acme: page 3 was forbidden');
  });

  it('is not printed when no target could be read', () => {
    const targets = incomplete.targets.map((target) => ({ ...target, unread: true as const }));
    const text = renderPlan(plan({ coverage: { ...incomplete, targets } }), { paint });
    expect(text).toContain('Nothing could be read, so nothing is known to change; 3 unchanged\n');
  });

  it('is not printed when there is a problem', () => {
    const text = renderPlan(plan({ problems: [problem()] }), { paint });
    expect(text).not.toMatch(/no changes/i);
    expect(text).toContain('1 problem forbids applying');
  });
});

describe('a field', () => {
  it('shows its value before and after, and where the value comes from', () => {
    expect(
      fieldsText(
        { path: ['box', 'lid'], before: 'open', after: 'shut', shape: 'scalar' },
        { path: ['colour'], before: 'blue', after: 'red', shape: 'scalar', origin: 'no longer declared' },
        { path: ['pause'], before: 3600, after: 7200, shape: 'duration' },
        { path: ['note'], before: null, after: 'new', shape: 'scalar' },
        { path: ['open'], before: true, after: 'true', shape: 'scalar' },
      ),
    ).toMatchInlineSnapshot(`
      "box.lid  open -> shut
      colour   blue -> red  (no longer declared)
      pause    1h -> 2h
      note     (none) -> new
      open     true -> "true""
    `);
  });

  it('with an unknown value before has the reason', () => {
    expect(
      fieldsText({
        path: ['friends'],
        unknown: 'not told while shared',
        after: ['ann'],
        shape: 'set',
        origin: 'default',
      }),
    ).toBe('friends  (unknown) -> [ann]  (not told while shared; default)');
  });

  it('that is a set shows added and removed elements, and counts the rest', () => {
    const many = Array.from({ length: 40 }, (_, index) => `friend-${index}`);
    expect(
      fieldsText(
        { path: ['friends'], before: ['ann', 'bob', 'cat'], after: ['bob', 'cat', 'dan'], shape: 'set' },
        { path: ['readers'], before: many.slice(0, 30), after: many.slice(12), shape: 'set' },
      ),
    ).toMatchInlineSnapshot(`
      "friends  + dan  - ann  (2 the same)
      readers  10 elements added, 12 removed, 18 the same
        + friend-30, friend-31, friend-32, friend-33, friend-34, friend-35, friend-36, friend-37,
        + friend-38, friend-39
        - friend-0, friend-1, friend-2, friend-3, friend-4, friend-5, friend-6, friend-7, friend-8,
        - friend-9, friend-10, friend-11"
    `);
  });

  it('that is a list shows the places of added and removed elements', () => {
    const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    expect(
      fieldsText({ path: ['steps'], before, after: ['a', 'b', 'c', 'd', 'x', 'f', 'g'], shape: 'list' }),
    ).toMatchInlineSnapshot(`
      "steps  1 element added, 1 removed, 6 the same
          ... 3 elements the same
          d
        - e
        + x
          f
          g"
    `);
  });

  it('that is a map shows each key separately', () => {
    expect(
      fieldsText({
        path: ['labels'],
        before: { a: '1', b: '2', 'c.d': 'x' },
        after: { a: '1', b: '3', e: 'y' },
        shape: 'map',
      }),
    ).toMatchInlineSnapshot(`
      "labels.b      "2" -> "3"
      labels."c.d"  - x
      labels.e      + y"
    `);
  });

  it('that is a map shows keys such as __proto__ like any other', () => {
    const shown = fieldsText({
      path: ['labels'],
      before: {},
      after: JSON.parse('{ "__proto__": "a", "constructor": "b" }'),
      shape: 'map',
    });
    expect(shown).toMatchInlineSnapshot(`
      "labels.__proto__    + a
      labels.constructor  + b"
    `);
  });

  it('that is a long text shows a line diff', () => {
    const lines = Array.from({ length: 12 }, (_, index) => `line ${index}`);
    const after = lines.with(6, 'another line').join('\n');
    expect(
      fieldsText({ path: ['about'], before: lines.join('\n'), after, shape: 'text' }),
    ).toMatchInlineSnapshot(`
      "about  1 line added, 1 removed, 11 the same
          ... 4 lines the same
          line 4
          line 5
        - line 6
        + another line
          line 7
          line 8
          ... 3 lines the same"
    `);
  });

  it('that is a set of texts shows each text completely', () => {
    expect(
      fieldsText({ path: ['keys'], before: ['-- A\nx'], after: ['-- A\nx', '-- B\ny'], shape: 'set' }),
    ).toMatchInlineSnapshot(`
      "keys  1 element added, 1 the same
        + -- B
        + y"
    `);
  });

  it('that is a secret shows whether it is set, its version and its source', () => {
    expect(
      fieldsText(
        { path: ['jwt'], before: null, after: { set: true, version: 1 }, shape: 'secret' },
        {
          path: ['key'],
          before: { set: true, version: 1, env: 'KEY' },
          after: { set: true, version: 1, file: '/run/key' },
          shape: 'secret',
        },
      ),
    ).toBe(
      'jwt  unset -> set (version 1)\nkey  set (version 1, from env KEY) -> set (version 1, from file /run/key)',
    );
  });

  it('with hostile text shows it escaped and in quotes', () => {
    expect(
      fieldsText({ path: ['about'], before: 'a', after: 'b\u001b[2J\nNo changes', shape: 'scalar' }),
    ).toBe('about  a -> "b\\u001b[2J\\nNo changes"');
  });

  it('with only a default takes no line of its own in a created resource', () => {
    const defaults = ['a', 'b', 'c'].map(
      (name): FieldChange => ({ path: [name], after: false, shape: 'scalar', origin: 'default' }),
    );
    const fields: FieldChange[] = [{ path: ['colour'], after: 'red', shape: 'scalar' }, ...defaults];
    expect(
      changesText([change({ action: 'create', fields })])
        .split('\n')
        .slice(2),
    ).toEqual(['    colour  red', '    (default)  a: false, b: false, c: false']);
  });
});

it('with calls, the report has the exact requests, their dependencies, and placeholders of ids and secrets', () => {
  const changes = [
    change({
      action: 'create',
      fields: [{ path: ['colour'], after: 'red', shape: 'scalar' }],
      calls: [
        call({
          id: 'Toy/acme/ball#create',
          method: 'POST',
          path: ['shops', 'a b', 'toys'],
          body: { type: 'toys', colour: 'red', key: new SecretReference({ env: 'TOY_KEY' }), tags: [] },
          success: [200, 201],
          repeatable: false,
          createsId: { address: readAddress('Toy/acme/ball'), pointer: '/data/id' },
        }),
        call({
          id: 'Toy/acme/ball#friend',
          method: 'POST',
          path: ['toys', new IdReference(readAddress('Toy/acme/ball')), 'friends'],
          body: { data: [{ id: new IdReference(readAddress('Toy/acme/kite')) }] },
          order: 20,
          needs: ['Toy/acme/kite#create'],
          description: 'adds one friend',
        }),
      ],
    }),
    change({
      action: 'create',
      address: { kind: 'Label', target: 'acme', name: 'ball' },
      sharedCall: 'Toy/acme/ball#create',
    }),
  ];
  expect(changesText(changes, { calls: true })).toMatchInlineSnapshot(`
    "+ create  Toy/acme/ball                                                                  toys.yaml:4
        live differs from the manifest
        colour  red

        POST /api/v2/shops/a%20b/toys
          call Toy/acme/ball#create; order 10; success is 200 or 201; returns the id of Toy/acme/ball;
          not repeatable
          {
            "type": "toys",
            "colour": "red",
            "key": {secret from env TOY_KEY},
            "tags": []
          }

        POST /api/v2/toys/{id of Toy/acme/ball}/friends
          call Toy/acme/ball#friend; adds one friend; waits for Toy/acme/kite#create; order 20;
          success is 200; repeatable
          {
            "data": [
              {
                "id": {id of Toy/acme/kite}
              }
            ]
          }

    + create  Label/acme/ball                                                                toys.yaml:4
        live differs from the manifest

        carried out by call Toy/acme/ball#create of another change"
  `);
});
