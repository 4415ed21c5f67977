/** The schema of a Policy document, and the type of the document from the same source. */
import { type Static, Type } from 'typebox';
import { apiVersion } from '../manifest/schema/manifest-schema.ts';
import { closed, text } from '../manifest/schema/place-schemas.ts';
import type { Action } from '../model/change.ts';
import type { JsonObject } from '../model/json.ts';
import type { Expected, Severity } from '../model/policy.ts';
import { maxExpression } from './check-expression.ts';

const actions: readonly Action[] = ['create', 'update', 'delete', 'release', 'adopt'];

const expression = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: maxExpression, description, examples: [example] });

const values = (description: string, example: string) =>
  Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description, examples: [[example]] });

const someObject = (description: string) => Type.Unsafe<JsonObject>({ type: 'object', description });

const Match = Type.Object(
  {
    kinds: Type.Optional(values('Kinds of resources; left out: all', 'Workspace')),
    actions: Type.Optional(
      Type.Array(Type.Unsafe<Action>({ type: 'string', enum: [...actions] }), {
        minItems: 1,
        description: 'What is done with the resource; left out: all, also deletes and releases',
        examples: [['create', 'update', 'adopt']],
      }),
    ),
    targets: Type.Optional(
      values(
        'Targets by their names, organizations or mounts ("platform/auth/cluster"), or by patterns in which only "*" is special; left out: all',
        'prod-*',
      ),
    ),
    tags: Type.Optional(
      Type.Unsafe<Readonly<Record<string, string | readonly string[]>>>({
        type: 'object',
        minProperties: 1,
        additionalProperties: { type: ['string', 'array'], items: { type: 'string' }, minItems: 1 },
        description:
          'Tags that the resource, or the resource that it belongs to, must have before or after the change: a pattern, or a list of patterns',
        examples: [{ env: 'prod' }],
      }),
    ),
  },
  { ...closed, description: 'The changes that the policy is about: all of these must match' },
);

const ExemptionSchema = Type.Object(
  {
    resource: text(
      'Address of the resource, or a pattern of addresses in which only "*" is special',
      'Workspace/acme/legacy-*',
    ),
    reason: text('Why the rule does not hold for it', 'moves to the new project in January'),
    owner: text('Who must end the exemption', 'team-network'),
    until: Type.String({
      pattern: String.raw`^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$`,
      patternErrorMessage: 'a day such as 2026-12-31, or a time such as 2026-12-31T12:00:00Z',
      description: 'Its last day in UTC, or a time; at most 90 days away',
      examples: ['2026-12-31'],
    }),
  },
  { ...closed, description: 'A resource whose violations do not count until a day' },
);

const TestSchema = Type.Object(
  {
    name: text('What the test shows', 'a workspace in production without a project'),
    change: Type.Optional(someObject('Members of "change"; what is left out is that of a create')),
    resource: Type.Optional(someObject('Members of "resource"')),
    plan: Type.Optional(someObject('Members of "plan"')),
    expect: Type.Unsafe<Expected>({
      type: 'string',
      enum: ['pass', 'violation', 'error', 'no-match'],
      description: 'The expected result; "error": the rule fails, which counts as a violation in a plan',
    }),
    message: Type.Optional(text('The whole message of the violation', 'a project is missing')),
  },
  { ...closed, description: 'A sample change, and what the policy says about it' },
);

export const policySchema = Type.Object(
  {
    apiVersion: Type.Unsafe<typeof apiVersion>({
      const: apiVersion,
      description: 'Version of the format of this document',
    }),
    kind: Type.Unsafe<'Policy'>({ const: 'Policy', description: 'Kind of this document' }),
    metadata: Type.Object(
      {
        name: Type.String({
          // A label that acknowledges has "trueup-ack/policy/" and the name, and code hosts allow 50 characters.
          pattern: '^[a-z0-9-]{1,32}$',
          patternErrorMessage: 'lower-case letters, digits and "-", at most 32',
          description: 'Name of the policy; its guard is "policy/" and this name',
          examples: ['production-has-a-project'],
        }),
      },
      { ...closed, description: 'Which policy this is' },
    ),
    spec: Type.Object(
      {
        severity: Type.Unsafe<Severity>({
          type: 'string',
          enum: ['deny', 'confirm', 'warn'],
          description:
            'What a violation does: "deny" stops apply and cannot be acknowledged, "confirm" stops it until it is acknowledged, "warn" is only shown',
        }),
        description: Type.Optional(
          text('What the rule wants, as one sentence without a full stop', 'production belongs to a project'),
        ),
        match: Type.Optional(Match),
        rule: expression(
          'CEL over "change", "resource" and "plan"; a change passes only if it gives true',
          'resource.spec.project != null',
        ),
        message: Type.Optional(
          expression('CEL that gives the text of the violation', 'resource.name + " needs a project"'),
        ),
        exemptions: Type.Optional(
          Type.Array(ExemptionSchema, { description: 'Resources for which the rule does not hold yet' }),
        ),
        tests: Type.Optional(
          Type.Array(TestSchema, { description: 'Sample changes, for "trueup policy test"' }),
        ),
      },
      { ...closed, description: 'What the policy wants' },
    ),
  },
  {
    ...closed,
    title: 'Policy',
    description: 'A rule of the organization about the changes of a plan',
    examples: [
      {
        apiVersion,
        kind: 'Policy',
        metadata: { name: 'production-has-a-project' },
        spec: {
          severity: 'deny',
          match: { kinds: ['Workspace'], actions: ['create', 'update', 'adopt'], tags: { env: 'prod' } },
          rule: 'resource.spec.project != null',
        },
      },
    ],
  },
);

export type PolicyDocument = Static<typeof policySchema>;
