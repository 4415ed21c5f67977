/** The five recorded files in one form: the requests in order, and the part of each response that is compared. */
import { withoutHelpTexts } from './help-shape.ts';
import {
  type ClusterAnswers,
  type ClusterQuestion,
  fixtures,
  type RecordedAnswer,
  type RecordedCase,
  recordedCases,
  type RecordedJwtForm,
  recordedJwtForms,
  type RecordedRequest,
  type RecordedRequestAfter,
  recordedRequestsAfter,
  type RecordedSelector,
  recordedSelectors,
  type RecordedSteps,
  recordedSteps,
} from './vectors.ts';

/** A request, and its recorded response. */
export interface Step {
  readonly request: RecordedRequest;
  /** the responses of the cluster's API from this step on; as before when absent */
  readonly cluster?: ClusterAnswers;
  /** undefined if no response was recorded */
  readonly recorded?: unknown;
  /** the part of a response that is compared; all of it when absent */
  readonly part?: (answer: RecordedAnswer) => unknown;
  readonly clusterSaw?: readonly ClusterQuestion[];
}

export interface RecordedLine {
  readonly id: string;
  readonly title: string;
  readonly insidePod: boolean;
  /** the value of `${m}` */
  readonly mount: string;
  readonly steps: readonly Step[];
}

/** All lines, by file. */
export function recordedLines(): Readonly<Record<string, readonly RecordedLine[]>> {
  return {
    'openbao-2.6.2.jsonl': recordedCases().map(lineOfCase),
    'random-roles-and-configs.jsonl': recordedSteps().map(lineOfSteps),
    'tokens-policies-http.jsonl': recordedRequestsAfter().map(lineOfRequestAfter),
    'selectors.jsonl': recordedSelectors().map(lineOfSelector),
    'jwt-forms.jsonl': recordedJwtForms().map(lineOfJwtForm),
  };
}

const status = (answer: RecordedAnswer): unknown => answer.status;

function lineOfCase(recorded: RecordedCase): RecordedLine {
  const { id, title, insidePod = false, cluster = {}, setup, request, answer, clusterSaw } = recorded;
  return {
    id,
    title,
    insidePod,
    mount: MOUNT,
    steps: [
      ...setup.map((before) => ({ request: before, cluster, recorded: before.status ?? 0, part: status })),
      { request, cluster, recorded: answer, ...(clusterSaw && { clusterSaw }) },
    ],
  };
}

const MOUNT = 'm';

/** A placeholder to fill in. */
function place(name: 'm' | 'root' | 'cluster'): string {
  return `\${${name}}`;
}

/** The first step of the other files. */
const enable: Step = {
  request: {
    method: 'POST',
    path: `/v1/sys/auth/${place('m')}`,
    headers: { 'X-Vault-Token': place('root') },
    body: { type: 'kubernetes' },
  },
  recorded: 204,
  part: status,
};

function lineOfSteps({ id, steps }: RecordedSteps): RecordedLine {
  const [first] = steps;
  return {
    id,
    title: `${first?.request.method ?? ''} ${first?.request.path ?? ''} and ${steps.length - 1} more`,
    insidePod: false,
    mount: MOUNT,
    steps: [enable, ...steps.map(({ request, answer }) => ({ request, recorded: answer }))],
  };
}

const granting: ClusterAnswers = { tokenreview: 'granted' };

/** Some responses contain the name of their mount. */
const MOUNT_IN_ANSWER = /\bd(?:acl|token)\d+/;

function lineOfRequestAfter({ id, before, request, answer }: RecordedRequestAfter): RecordedLine {
  const asksHelp = request.path.endsWith('?help=1');
  return {
    id,
    title: `${request.method} ${request.path}`,
    insidePod: false,
    mount: MOUNT_IN_ANSWER.exec(JSON.stringify(answer))?.[0] ?? MOUNT,
    steps: [
      { ...enable, cluster: granting },
      ...before.map((each) => ({ request: each })),
      asksHelp
        ? { request, recorded: withoutHelpTexts(answer), part: withoutHelpTexts }
        : { request, recorded: answer },
    ],
  };
}

function writeConfig(fields: Readonly<Record<string, unknown>>): Step {
  return {
    request: {
      method: 'POST',
      path: `/v1/auth/${place('m')}/config`,
      headers: { 'X-Vault-Token': place('root') },
      body: {
        kubernetes_host: place('cluster'),
        kubernetes_ca_cert: fixtures().certs.ca.certificate,
        ...fields,
      },
    },
    recorded: 204,
    part: status,
  };
}

function writeRole(fields: Readonly<Record<string, unknown>>): RecordedRequest {
  return {
    method: 'POST',
    path: `/v1/auth/${place('m')}/role/r`,
    headers: { 'X-Vault-Token': place('root') },
    body: { bound_service_account_names: ['api'], ...fields },
  };
}

function logIn(jwt: string): RecordedRequest {
  return { method: 'POST', path: `/v1/auth/${place('m')}/login`, headers: {}, body: { role: 'r', jwt } };
}

function lineOfSelector(
  { selector, namespaceLabels, answer }: RecordedSelector,
  index: number,
): RecordedLine {
  const { write, error, logins } = answer;
  const role = {
    bound_service_account_namespaces: ['x'],
    bound_service_account_namespace_selector: selector,
  };
  return {
    id: `selector-${String(index).padStart(3, '0')}`,
    title: JSON.stringify(selector),
    insidePod: false,
    mount: MOUNT,
    steps: [
      enable,
      writeConfig({ token_reviewer_jwt: 'reviewer' }),
      {
        request: writeRole(role),
        recorded: { write, error },
        part: (answered) => ({ write: answered.status, error: errorsIn(answered) }),
      },
      ...(logins ?? []).map((login, at) => ({
        request: logIn(fixtures().jwts.projected.jwt),
        cluster: {
          ...granting,
          namespaces: {
            payments: {
              status: 200,
              body: { metadata: { name: 'payments', labels: namespaceLabels[at] ?? {} } },
            },
          },
        },
        recorded: login,
        part: status,
      })),
    ],
  };
}

function lineOfJwtForm({ config, title, jwt, answer }: RecordedJwtForm): RecordedLine {
  const { ec, rsa } = fixtures().keys;
  return {
    id: `${config}: ${title}`,
    title: answer.status === 200 ? 'taken' : 'refused',
    insidePod: false,
    mount: MOUNT,
    steps: [
      { ...enable, cluster: granting },
      writeConfig(config === 'keys' ? { pem_keys: [ec.public, rsa.public] } : {}),
      { request: writeRole({ bound_service_account_namespaces: ['payments'] }), recorded: 204, part: status },
      {
        request: logIn(jwt),
        recorded: answer,
        part: (answered) => ({
          status: answered.status,
          errors: errorsIn(answered),
          warnings: memberOf(answered.body, 'warnings') ?? null,
          metadata: memberOf(memberOf(answered.body, 'auth'), 'metadata') ?? null,
        }),
      },
    ],
  };
}

function errorsIn({ body }: RecordedAnswer): unknown {
  return memberOf(body, 'errors') ?? null;
}

function memberOf(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
}
