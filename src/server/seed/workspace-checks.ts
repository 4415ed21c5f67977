/** The shape of a seeded workspace as checks, key by key like seed.ts. */
import { CONFIGURATION_STATUSES } from '../configuration-versions/configuration-version-record.ts';
import { NAME_LIMIT, TEXT_LIMIT } from '../json-api/body.ts';
import { RUN_STATUSES } from '../runs/run-record.ts';
import { VARIABLE_CATEGORIES } from '../variables/variable-record.ts';
import { keyProblems, valueProblems } from '../workspaces/tags/tag-bindings.ts';
import { normalTagName, TAG_NAME_RULE } from '../workspaces/tags/tag-names.ts';
import {
  anything,
  type Check,
  count,
  flag,
  listOf,
  mapOf,
  object,
  oneOf,
  shortText,
  text,
} from './seed-reader.ts';

export const tagBindings: Check = (value, path, problems) => {
  mapOf((item, at, found) => {
    for (const detail of valueProblems(item)) found.push(`${at}: ${detail}`);
  })(value, path, problems);
  for (const key of Object.keys(Object(value))) {
    for (const detail of keyProblems(key)) problems.push(`${path}.${key}: ${detail}`);
  }
};

const tagName: Check = (value, path, problems) => {
  if (normalTagName(value) === undefined) problems.push(`${path}: ${TAG_NAME_RULE}`);
};

const workspaceName: Check = (value, path, problems) => {
  if (typeof value !== 'string' || !/^[A-Za-z0-9_-]+$/.test(value)) {
    problems.push(`${path} must be made of letters, numbers, - and _`);
  } else if (value.length > NAME_LIMIT) {
    problems.push(`${path} has at most ${NAME_LIMIT} characters`);
  }
};

const run = object(
  {
    status: oneOf(...RUN_STATUSES),
    id: text,
    'plan-duration': count,
    'apply-duration': count,
    'failed-policy-check': flag,
    message: text,
    'is-destroy': flag,
    'plan-only': flag,
    'configuration-version': text,
    'resource-additions': count,
    'resource-changes': count,
    'resource-destructions': count,
  },
  ['status'],
);

const stateVersion = object({
  id: text,
  serial: count,
  lineage: text,
  status: oneOf('pending', 'finalized'),
  intermediate: flag,
  'resource-count': count,
  outputs: listOf(object({ name: text, value: anything, sensitive: flag }, ['name', 'value'])),
});

const configurationVersion = object({
  id: text,
  status: oneOf(...CONFIGURATION_STATUSES),
  source: text,
  speculative: flag,
  'error-message': text,
  'ingress-attributes': object({
    branch: text,
    'commit-sha': text,
    'commit-message': text,
    'commit-url': text,
    identifier: text,
    'sender-username': text,
    tag: text,
    'is-pull-request': flag,
    'pull-request-number': count,
  }),
});

const variable = object(
  {
    key: text,
    id: text,
    value: anyText,
    description: text,
    category: oneOf(...VARIABLE_CATEGORIES),
    hcl: flag,
    sensitive: flag,
  },
  ['key'],
);

export const workspace = object(
  {
    name: workspaceName,
    id: text,
    project: text,
    'resource-count': count,
    'intermediate-state-version': oneOf('pending', 'finalized'),
    'state-versions': listOf(stateVersion),
    'configuration-versions': listOf(configurationVersion),
    runs: listOf(run),
    'locked-by-run': text,
    tags: listOf(tagName),
    'tag-bindings': tagBindings,
    'global-remote-state': flag,
    'source-name': shortText(TEXT_LIMIT),
    vars: listOf(variable),
    'assessment-results': listOf(object({ id: text, drifted: flag, succeeded: flag, 'error-message': text })),
    readme: text,
    'auto-destroy-status': text,
  },
  ['name'],
);

/** The value of a variable may be empty. */
function anyText(value: unknown, path: string, problems: string[]): void {
  if (typeof value !== 'string') problems.push(`${path} must be a text`);
}
