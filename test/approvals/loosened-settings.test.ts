/** What an acknowledgement of loosened settings covers: the key of each one, and what people see of it. */
import '../support/fixed-seed.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guardKeys } from '../../src/approvals/guard-keys.ts';
import { loosenedSigners } from '../../src/approvals/loosened-signers.ts';
import type { Approver } from '../../src/model/approval.ts';
import type { LoosenedSetting } from '../../src/model/guard.ts';
import type { Stack, Target } from '../../src/model/stack.ts';
import { loosenedGuards, stricterOf } from '../../src/plan/loosened.ts';

type Names = readonly string[];
type Pair = readonly [before: Names, after: Names];

const target: Target = {
  ...{ name: 'acme', service: 'workspaces', url: 'https://s.example.com', dialect: 'neutral' },
};

/** A stack with one setting. */
const stackWith = (setting: Partial<Stack>): Stack => ({
  ...{ name: 's', file: 'f', directory: '/s', manifests: [], defaults: [], guards: {}, targets: [target] },
  ...setting,
});

/** A key of the type "ssh-ed25519", which is different for each text. */
function keyOf(text: string): string {
  const type = 'ssh-ed25519';
  const length = Buffer.alloc(4);
  length.writeUInt32BE(type.length);
  return Buffer.concat([length, Buffer.from(type + text)]).toString('base64');
}

const signerLine = (name: string, key = name) => `${name}@example.com ssh-ed25519 ${keyOf(key)}`;
const signersIn = (before: Names, after: Names) =>
  loosenedSigners('allowed_signers', { before: before.join('\n'), after: after.join('\n') });
const policiesFrom = (refs: Names) =>
  stackWith({ policies: refs.map((ref) => ({ git: { remote: 'origin', ref, path: 'policies' } })) });
const approversIn = (users: Names) =>
  stackWith({ approvals: { from: users.map((user): Approver => ({ user })) } });

/** What is loosened when a list of a setting changes. */
const settings: Readonly<Record<string, (...pair: Pair) => readonly LoosenedSetting[]>> = {
  owns: (...pair) => between(pair, (owns) => stackWith({ targets: [{ ...target, owns }] })),
  'secrets.env': (...pair) => between(pair, (env) => stackWith({ secrets: { env, files: [] } })),
  'secrets.files': (...pair) => between(pair, (files) => stackWith({ secrets: { env: [], files } })),
  'approvals.from': (...pair) => between(pair, approversIn),
  'policies.from': (...pair) => between(pair, policiesFrom),
  signers: (before, after) =>
    signersIn(
      before.map((name) => signerLine('carol', name)),
      after.map((name) => signerLine('carol', name)),
    ),
};

function between([before, after]: Pair, stackOf: (names: Names) => Stack): readonly LoosenedSetting[] {
  return stricterOf(stackOf(before), stackOf(after)).loosened;
}

function keysOf(loosened: readonly LoosenedSetting[]): readonly string[] {
  return guardKeys(loosenedGuards(loosened).map((guard) => ({ ...guard, effect: 'blocks' })));
}

/** Few different changes of short and long lists, so that two of them often look alike. */
const anyPair: fc.Arbitrary<Pair> = fc
  .tuple(
    fc.constantFrom(0, 30),
    fc.constantFrom('mallory', 'zoe', 'eve'),
    fc.subarray(['gone']),
    fc.subarray(['newbie', '*'], { minLength: 1 }),
  )
  .map(([many, kept, removed, added]) => {
    const common = [...Array.from({ length: many }, (_, at) => `platform-owner-${at}`), kept];
    return [
      [...common, ...removed],
      [...added, ...common],
    ];
  });

const meaningOf = (pair: Pair) => JSON.stringify(pair.map((names) => [...new Set(names)].sort()));

const many = Array.from({ length: 16 }, (_, at) => `platform-application-${at}-*`);

describe('The key of a loosened setting', () => {
  it.each(Object.entries(settings))('is never the same for two different changes of "%s"', (_, loosened) => {
    fc.assert(
      fc.property(anyPair, anyPair, (one, other) => {
        const [keys, others] = [one, other].map((pair) => keysOf(loosened(...pair)));
        fc.pre(keys?.length === 1 && others?.length === 1);
        expect(keys?.[0] === others?.[0]).toBe(meaningOf(one) === meaningOf(other));
      }),
      { numRuns: 300 },
    );
  });

  it.each(['owns', 'secrets.env', 'secrets.files'] as const)(
    'covers each pattern that is added to a long list of "%s"',
    (name) => {
      const keys = ['ours-*', 'OUR_TOKEN', '*'].map((more) =>
        keysOf(settings[name]?.(many, [...many, more]) ?? []),
      );
      expect(new Set(keys.map(String)).size).toBe(3);
      expect(keys.map((each) => each.length)).toEqual([1, 1, 1]);
    },
  );

  it('covers the keys of signers, not only their names', () => {
    const alice = signerLine('alice');
    const [one, other] = ['true', 'evil'].map((key) =>
      keysOf(signersIn([alice], [alice, signerLine('carol', key)])),
    );
    expect(one).not.toEqual(other);
  });

  it('is that of its message if an earlier version of trueup made the plan', () => {
    const [guard] = loosenedGuards(stricterOf(approversIn(['ann']), approversIn(['ben'])).loosened);
    const { settingHash: _, ...earlier } = { message: '', ...guard, effect: 'blocks' as const };
    const keyWith = (message: string) =>
      guardKeys([{ id: 'loosened', counted: 1, concerns: [], ...earlier, message }]);
    expect(keyWith('one')).toEqual(keyWith('one'));
    expect(keyWith('one')).not.toEqual(keyWith('other'));
  });
});

describe('The message about a loosened list', () => {
  const messageOf = (loosened: readonly LoosenedSetting[] = []) => loosenedGuards(loosened)[0]?.message;

  it('names what was added and removed', () => {
    expect(messageOf(settings['owns']?.(['a-*', 'b-*'], ['a-*', '*']))).toBe(
      'owns of the target "acme" is loosened from ["a-*", "b-*"] to ["a-*", "*"], with "*" added and "b-*" removed, and the stricter value holds for this plan',
    );
    expect(messageOf(settings['approvals.from']?.([], ['ann']))).toBeUndefined();
    expect(
      messageOf(
        between([[], ['eve']], (files) => ({
          ...stackWith({ approvals: { from: files.map((signers) => ({ signers })) } }),
        })),
      ),
    ).toContain('is loosened from [] to [{"signers":"eve"}], and');
  });

  it('names the changed elements of a long list, and says that an acknowledgement covers all of them', () => {
    const [first = '', ...rest] = many;
    expect(messageOf(settings['secrets.env']?.(many, [...rest, 'OUR_TOKEN', '*']))).toBe(
      `spec.secrets.env is loosened from a list of 16 to a list of 17, with "OUR_TOKEN", "*" added and "${first}" removed (an acknowledgement covers all elements), and the stricter value holds for this plan`,
    );
    const more = Array.from({ length: 25 }, (_, at) => `more-${at}`);
    const message = messageOf(settings['owns']?.(many, [...many, ...more]));
    expect(message).toContain('"more-19" and 5 more added (an acknowledgement covers all elements)');
    expect(message).not.toContain('"more-20"');
  });

  it('shows the beginning of a long element, and how many characters follow', () => {
    const long = `"${'x'.repeat(400)}`;
    expect(messageOf(settings['owns']?.([], [long]))).toMatch(
      /to a list of 1, with "\\"\\+"x+…" \(and \d+ more characters\) added \(an acknowledgement covers all elements\), and the/,
    );
  });

  it('shows the fingerprint, the options and the comment of each key of a signer', () => {
    const shown = (line: string) => signersIn([], [line])[0]?.after;
    const fingerprint = /^\[key SHA256:[A-Za-z0-9+/]{43} of "carol@example.com"\]$/;
    expect(shown(signerLine('carol'))).toMatch(fingerprint);
    expect(signersIn([], [signerLine('carol')])[0]?.before).toBe('no signers');
    expect(shown(signerLine('carol').replace(' ', ' cert-authority,namespaces="a b" '))).toMatch(
      / of "carol@example.com" \(options "cert-authority,namespaces=\\"a b\\""\)\]$/,
    );
    expect(shown(`${signerLine('carol')} of the laptop`)).toMatch(
      / of "carol@example.com" \(comment "of the laptop"\)\]$/,
    );
    expect(shown('carol@example.com ssh-ed25519 AAAA')).toBe('["carol@example.com ssh-ed25519 AAAA"]');
  });

  it('shows the key that ssh-keygen reads, for any comment and principals', () => {
    const [ours, evil] = ['ours', 'evil'].map((key) => `ssh-ed25519 ${keyOf(key)}`) as [string, string];
    const keyIn = (line: string) => /SHA256:\S+/.exec(signersIn([], [line])[0]?.after ?? '')?.[0];
    for (const line of [`ca"rol ${evil} "x" ${ours}`, `ca"rol ${evil} " ${ours}`, `"a ${ours}" ${evil}`])
      expect(keyIn(line)).toBe(keyIn(`carol ${evil}`));
    expect(keyIn(`carol namespaces="x ${ours}" ${evil}`)).toBe(keyIn(`carol ${evil}`));
  });

  it('does not report other comments, another order or removed lines', () => {
    const [alice, carol] = [signerLine('alice'), signerLine('carol')];
    expect(signersIn([alice, carol], ['# people', carol, '', alice])).toEqual([]);
    expect(signersIn([alice, carol], [alice])).toEqual([]);
  });
});
