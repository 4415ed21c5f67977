/** Texts that would be active in a comment on GitHub or GitLab, or break out of the markup around them. */
import fc from 'fast-check';
import type { Plan } from '../../../src/model/plan.ts';
import { guardIds, type GuardId } from '../../../src/model/guard.ts';
import { call, change, place, plan, problem } from './small-plan.ts';

const pieces = [
  ...[
    '|',
    '`',
    '``',
    '```',
    '```mermaid',
    '~~~',
    '\\',
    '\\|',
    '\n',
    '\r\n',
    '\t',
    ' ',
    '    ',
    '"',
    "'",
    'a',
    '0',
  ],
  ...[
    '# ',
    '- ',
    '+ ',
    '1. ',
    '> ',
    '***',
    '__x__',
    '~~x~~',
    '===',
    '---',
    '|---|',
    '[ ] ',
    '[^1]',
    '[^1]: x',
  ],
  ...['[x](http://e.vil)', '![i](http://e.vil/i.png)', '[x]: http://e.vil', '<http://e.vil>'],
  ...[
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '</details>',
    '</summary>',
    '</code>',
    '</td>',
  ],
  ...['<!--', '-->', '<br>', '<a href=x>', '&lt;', '&#64;user', '&amp;', '<![CDATA[', '<?'],
  ...[
    '@user',
    '@org/team',
    '#1',
    'GH-12',
    'owner/repo#3',
    'user@0123456789abcdef0123',
    'deadbeefcafe',
    'CVE-2020-1',
  ],
  ...['http://e.vil', 'https://e.vil', 'www.e.vil', 'mailto:a@b.cd', 'a@b.cd', 'xmpp:a@b.cd', ':tada:'],
  ...[
    '$x$',
    '$$',
    '$`x`$',
    '!12',
    '~label',
    '%1',
    '&5',
    '^6',
    '/close',
    '/merge',
    '"@user"',
    '"`"',
    '\u200b',
    '\ud800',
  ],
  ...['::error::x', '##[error]', '{{', '%%{init: {}}%%', 'é', '\u202e', '😀'],
];

export const markdownAttack: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...pieces), { maxLength: 12 })
  .map((parts) => parts.join(''));

/** A plan with an attack in every text that can come from outside. */
export const attackingPlan: fc.Arbitrary<Plan> = planOf(markdownAttack);

/** The same with other texts. */
export function planOf(attack: fc.Arbitrary<string>): fc.Arbitrary<Plan> {
  return fc.array(attack, { minLength: 30, maxLength: 30 }).map((texts) => {
    let next = 0;
    const any = () => texts[next++ % texts.length] ?? '';
    const address = () => ({ kind: 'Toy', target: any(), name: any() });
    const fields = () => [
      { path: [any()], before: any(), after: any(), shape: 'text' as const, origin: any() },
      { path: [any(), any()], before: [any(), any()], after: [any()], shape: 'set' as const, unknown: any() },
      { path: ['map'], after: { [any()]: any() }, shape: 'map' as const },
    ];
    const risk = (effect: 'widens' | 'narrows') => ({ path: [], effect, message: any() });
    const changes = (['create', 'update', 'delete', 'release', 'adopt'] as const).map((action) =>
      change({
        address: address(),
        action,
        reason: any(),
        fields: fields(),
        notes: [any()],
        risks: [risk('widens'), risk('narrows')],
        place: place({ file: any(), text: any() }),
        calls: [call({ id: any(), path: [any()], body: { [any()]: any() }, description: any() })],
      }),
    );
    const found = problem({
      code: any() as 'not-ours',
      message: any(),
      place: place({ file: any(), text: any() }),
      found: any(),
      allowed: any(),
      fix: any(),
      related: [{ message: any(), place: place({ file: any() }) }],
    });
    const guard = (id: GuardId) => ({
      id,
      effect: 'blocks' as const,
      counted: 1,
      message: any(),
      concerns: [{ address: address(), messages: [any()] }],
    });
    return plan({
      stack: any(),
      changes,
      notices: [{ address: address(), message: any(), fix: any() }],
      problems: [found],
      guards: guardIds.slice(0, 3).map((id) => guard(id as GuardId)),
      coverage: {
        complete: false,
        files: 1,
        documents: 1,
        ledger: 'found',
        ledgerNotes: [any()],
        targets: [
          {
            target: any(),
            requests: 1,
            read: [{ kind: any(), count: 1 }],
            limits: [any()],
            incomplete: [any()],
            invisible: [any()],
            notes: [any()],
          },
        ],
      },
    });
  });
}
