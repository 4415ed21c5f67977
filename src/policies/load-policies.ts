/**
 * Reads the policies that a stack names, and checks them. A source that cannot be read is an error: it never counts as a source without
 * policies.
 */
import { documentProblems } from '../manifest/explain-errors.ts';
import { parseDocuments } from '../manifest/yaml/parse-documents.ts';
import { createSourceText, placeIn, type YamlDocument } from '../manifest/yaml/yaml-document.ts';
import { diagnose, type Problem } from '../manifest/problem.ts';
import { jsonSchema } from '../model/define-kind.ts';
import { type Diagnostic, hasErrors, sortDiagnostics } from '../model/diagnostic.ts';
import type { Kind, Registry } from '../model/kind.ts';
import type { NamedReference } from '../model/named-reference.ts';
import { nearestWord } from '../model/nearest-word.ts';
import type { Policy, ReadSource } from '../model/policy.ts';
import type { PolicyText } from '../model/policy-source.ts';
import { orList, quoted, quoteSome } from '../model/quoted.ts';
import type { Stack } from '../model/stack.ts';
import { evaluate } from './run-worker.ts';
import { exemptionState, maxExemptionDays } from './exemptions.ts';
import { type ReadContext, readSource, type SourceTexts } from './read-sources.ts';
import { type PolicyDocument, policySchema } from './schema.ts';
import { type NestedFields, shapeOfFields } from './variables.ts';

/** A policy with its document. */
export interface ReadPolicy extends Policy {
  readonly document: YamlDocument;
  /** whether the stack names it; absent for a policy of an earlier commit */
  readonly isNamed?: true;
}

export interface LoadedPolicies {
  readonly policies: readonly ReadPolicy[];
  readonly sources: readonly ReadSource[];
  /** sorted; if there is an error, none of the policies may be used */
  readonly diagnostics: readonly Diagnostic[];
}

export interface PolicyContext extends ReadContext {
  readonly kinds: Registry;
  /** milliseconds since 1970 */
  readonly now: number;
}

export async function loadPolicies(
  { policies: sources = [], directory, file }: Pick<Stack, 'policies' | 'directory' | 'file'>,
  context: PolicyContext,
): Promise<LoadedPolicies> {
  const read = await Promise.all(sources.map((source) => readSource(source, { directory, file }, context)));
  const isEarlier = sources.map((source) => 'earlier' in source && source.earlier === true);
  const all = read.map((source, index) => {
    const { policies, diagnostics } = parseSource(source, context);
    const marked =
      isEarlier[index] === true ? policies : policies.map((one) => ({ ...one, isNamed: true as const }));
    return { source, policies: marked, diagnostics };
  });
  const named = all.flatMap((one, index) => (isEarlier[index] === true ? [] : one.policies));
  // Earlier policies that did not change are known already.
  const known: ReadPolicy[] = [...named];
  const kept = all.map(({ policies }, index) => {
    if (isEarlier[index] !== true) return policies;
    const others = policies.filter((one) => !known.some((now) => isSamePolicy(now, one)));
    known.push(...others);
    return others;
  });
  const wrong = await expressionProblems(kept.flat(), context.kinds);
  const current = new Set(named);
  // Errors of an earlier commit must not stop the commit that repairs them: the guard "loosened" reports that such a policy does not hold.
  const asWarnings = (found: readonly Diagnostic[]) =>
    found.map((one) => ({ ...one, severity: 'warning' as const }));
  const problems = all.flatMap(({ source, diagnostics }, index) => {
    if (isEarlier[index] !== true) return [...source.diagnostics, ...diagnostics];
    // The comparison that read these texts has already reported their problems.
    if (source.read.remote === undefined && source.read.commit !== undefined) return [];
    return [
      // The stack no longer names a source that is gone, so there is nothing to correct.
      ...(source.isGone ? asWarnings(source.diagnostics.map(withoutFix)) : source.diagnostics),
      ...asWarnings(diagnostics),
    ];
  });
  const diagnostics = [
    ...problems,
    ...sameNames(named),
    ...wrong.flatMap(({ policy, problem }) => (current.has(policy) ? [problem] : asWarnings([problem]))),
  ];
  const unusable = new Set(wrong.map(({ policy }) => policy).filter((policy) => !current.has(policy)));
  const used = kept.map((some) => some.filter((policy) => !unusable.has(policy)));
  return {
    policies: used.flat(),
    sources: all.flatMap(({ source }, index) => {
      const { length } = used[index] ?? [];
      return length === 0 && isEarlier[index] === true ? [] : [{ policies: length, ...source.read }];
    }),
    diagnostics: sortDiagnostics(diagnostics),
  };
}

/** Whether both decide in the same way: their tests, descriptions and places do not matter. */
function isSamePolicy(one: Policy, other: Policy): boolean {
  const text = ({ name, severity, match, rule, message, exemptions }: Policy) =>
    JSON.stringify([name, severity, match, rule, message ?? null, exemptions]);
  return text(one) === text(other);
}

// From texts to policies.

interface Parsed {
  readonly policies: readonly ReadPolicy[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The valid policies in some texts, without a check of their expressions. */
export function policiesIn(
  texts: readonly PolicyText[],
  context: Pick<PolicyContext, 'kinds' | 'now'>,
): Parsed {
  const parsed = texts.map(({ file, text }) => parseText(file, text, context));
  return {
    policies: parsed.flatMap((one) => one.policies),
    diagnostics: parsed.flatMap((one) => one.diagnostics),
  };
}

function parseSource({ texts, diagnostics: before }: SourceTexts, context: PolicyContext): Parsed {
  const { policies, diagnostics } = policiesIn(texts, context);
  const isEmpty = texts.length > 0 && policies.length === 0 && !hasErrors([...before, ...diagnostics]);
  return {
    policies,
    diagnostics: isEmpty ? [...diagnostics, nothingIn(texts.map(({ file }) => file))] : diagnostics,
  };
}

function withoutFix({ fix: _, ...problem }: Diagnostic): Diagnostic {
  return problem;
}

function nothingIn(files: readonly string[]): Diagnostic {
  const message = `${orList(files.slice(0, 5).map(quoted)).replace(' or ', ' and ')} hold no policy`;
  const fix = 'add a document with "kind: Policy", or remove the file from "spec.policies"';
  return { code: 'policies-unreadable', severity: 'error', class: 'invalid', message, fix };
}

function parseText(file: string, text: string, context: Pick<PolicyContext, 'kinds' | 'now'>): Parsed {
  const { documents, diagnostics } = parseDocuments(createSourceText(file, text));
  const each = documents.map((document) => readPolicy(document, context));
  return {
    policies: each.flatMap(({ policy }) => (policy === undefined ? [] : [policy])),
    diagnostics: [...diagnostics, ...each.flatMap((one) => one.diagnostics)],
  };
}

function readPolicy(
  document: YamlDocument,
  { kinds, now }: Pick<PolicyContext, 'kinds' | 'now'>,
): { readonly policy?: ReadPolicy; readonly diagnostics: readonly Diagnostic[] } {
  const broken = documentProblems(document, policySchema, jsonSchema(policySchema));
  if (broken.length > 0) return { diagnostics: broken.map((problem) => diagnosed(problem, document)) };
  // it matches the schema
  const { metadata, spec } = document.value as unknown as PolicyDocument;
  const problems = [
    ...unknownKinds(spec.match?.kinds ?? [], kinds),
    ...neverTagged(spec.match ?? {}, kinds),
    ...(spec.exemptions ?? []).flatMap((one, index) => exemptionProblem(one.until, index, now)),
  ];
  const { tags } = spec.match ?? {};
  const policy: ReadPolicy = {
    ...spec,
    name: metadata.name,
    match: {
      ...(spec.match as Omit<Policy['match'], 'tags'> | undefined),
      ...(tags === undefined
        ? {}
        : { tags: Object.fromEntries(Object.entries(tags).map(([key, one]) => [key, [one].flat()])) }),
    },
    exemptions: spec.exemptions ?? [],
    tests: (spec.tests ?? []).map(({ change = {}, ...test }) => ({ ...test, change })),
    place: placeIn(document, ['metadata', 'name']),
    document,
  };
  const diagnostics = problems.map((problem) => diagnosed(problem, document));
  return hasErrors(diagnostics) ? { diagnostics } : { policy, diagnostics };
}

function diagnosed(problem: Problem, document: YamlDocument): Diagnostic {
  return diagnose(problem, {
    place: (path, side) => placeIn(document, path, side),
    fromDefaults: () => false,
    isSecret: () => false,
  });
}

function unknownKinds(names: readonly string[], kinds: Registry): Problem[] {
  return names.flatMap((name, index) => {
    if (kinds.has(name)) return [];
    const near = nearestWord(name, kinds.keys());
    return [
      {
        code: 'unknown-kind' as const,
        path: ['spec', 'match', 'kinds', `${index}`],
        message: 'there is no such kind',
        found: quoted(name),
        allowed: orList([...kinds.keys()].map(quoted)),
        ...(near === undefined ? {} : { fix: `did you mean ${quoted(near)}?` }),
      },
    ];
  });
}

/** Kinds of a service without tags never match a policy with tags. */
function neverTagged({ kinds: names = [], tags }: MatchText, kinds: Registry): Problem[] {
  if (tags === undefined) return [];
  const tagged = [...kinds.values()].filter(({ fields }) => Object.hasOwn(fields, 'tags'));
  const services = new Set(tagged.map(({ service }) => service));
  const without = names.filter((name) => {
    const kind = kinds.get(name);
    return kind !== undefined && !services.has(kind.service);
  });
  if (without.length === 0) return [];
  const message = `resources of ${quoteSome(without)} have no tags, so this policy is never about them`;
  const fix = 'leave "tags" out, or name other kinds';
  return [{ code: 'not-for-service', path: ['spec', 'match', 'tags'], side: 'key', message, fix }];
}

type MatchText = NonNullable<PolicyDocument['spec']['match']>;

function exemptionProblem(until: string, index: number, now: number): Problem[] {
  const state = exemptionState({ until }, now);
  const path = ['spec', 'exemptions', `${index}`, 'until'];
  if (state.is === 'invalid')
    return [{ code: 'exemption-end', path, message: `${quoted(until)} is not a valid date` }];
  if (state.is === 'too-far') {
    const message = `the exemption ends more than ${maxExemptionDays} days from now`;
    return [
      {
        code: 'exemption-end',
        path,
        message,
        fix: 'choose an earlier day, and renew it then if it is still needed',
      },
    ];
  }
  return [];
}

function sameNames(policies: readonly ReadPolicy[]): Diagnostic[] {
  return policies.flatMap((policy, index) => {
    const first = policies.findIndex(({ name }) => name === policy.name);
    const other = policies[first];
    if (first === index || other === undefined) return [];
    return [
      {
        code: 'duplicate' as const,
        severity: 'error' as const,
        class: 'invalid' as const,
        message: `two policies are called ${quoted(policy.name)}`,
        place: policy.place,
        fix: 'give one of them another name',
        related: [{ message: 'first here', place: other.place }],
      },
    ];
  });
}

/** The fields that a rule may name: those of the kinds that it is about. */
export function specShape({ match }: Pick<Policy, 'match'>, kinds: Registry) {
  const wanted = [...kinds.values()].filter(({ name }) => match.kinds?.includes(name) ?? true);
  return shapeOfFields(
    wanted.flatMap(({ fields, named }) => [contentFields(fields), nameFields(named?.references ?? [])]),
  );
}

/** A rule never gets fields that only manifests have, or that no service returns. */
function contentFields(fields: Kind['fields']): NestedFields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, { local, writeOnly }]) => local !== true && writeOnly !== true),
  );
}

/** The fields that refer to objects by name. Those inside another field are left out. */
function nameFields(references: readonly NamedReference[]): NestedFields {
  return Object.fromEntries(
    references.flatMap(({ name: [name, ...below] }) =>
      name === undefined || below.length > 0 ? [] : [[name, {}]],
    ),
  );
}

/** What is wrong with the expressions of policies. */
export async function expressionProblems(
  policies: readonly ReadPolicy[],
  kinds: Registry,
): Promise<readonly { readonly policy: ReadPolicy; readonly problem: Diagnostic }[]> {
  if (policies.length === 0) return [];
  const rules = policies.map((policy) => ({
    rule: policy.rule,
    ...(policy.message === undefined ? {} : { message: policy.message }),
    spec: specShape(policy, kinds),
  }));
  const { problems } = await evaluate({ rules, changes: [], plan: {}, cases: [] });
  return problems.flatMap(({ rule, part, message, fix }) => {
    const policy = policies[rule];
    if (policy === undefined) return [];
    const about = `${part === 'rule' ? 'the rule' : 'the message'} of policy ${quoted(policy.name)}: ${message}`;
    const problem: Problem = {
      code: 'policy-expression',
      path: ['spec', part],
      message: about,
      ...(fix === undefined ? {} : { fix }),
    };
    return [{ policy, problem: diagnosed(problem, policy.document) }];
  });
}
