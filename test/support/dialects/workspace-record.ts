/**
 * One workspace as a real service stores and shows it. Written only from wire/workspaces, without code of the embedded
 * service, so that a mistake there is not repeated here.
 */
import { randomBytes } from 'node:crypto';

export type Members = Readonly<Record<string, unknown>>;

/** The service's names of the two attributes that the specifications renamed. */
export interface Names {
  readonly version: string;
  readonly app: string;
}

export interface Project {
  readonly id: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** the duration of the project; a workspace with another one must set that it does not inherit (wire/workspaces 1.5.19) */
  readonly autoDestroy?: string;
}

/** `by`: the user who holds it (wire/workspaces 1.5.7). */
export interface Lock {
  readonly reason: string;
  readonly by: string;
}

/** An error response, with the texts of the service. */
export class Refusal extends Error {
  readonly status: number;
  readonly title: string;
  constructor(status: number, title: string, detail: string) {
    super(detail);
    this.status = status;
    this.title = title;
  }
}

function invalid(detail: string): Refusal {
  return new Refusal(422, 'invalid attribute', detail);
}

const plain = {
  'allow-destroy-plan': true,
  'auto-apply': false,
  'auto-apply-run-trigger': false,
  'file-triggers-enabled': true,
  'global-remote-state': false,
  'queue-all-runs': false,
  'speculative-enabled': true,
  'structured-run-output-enabled': true,
  description: null,
  'working-directory': null,
};

const connections = (names: Names) => ['oauth-token-id', names.app];

export class WorkspaceRecord {
  readonly id = `ws-${randomBytes(8).toString('hex')}`;
  readonly tags = new Map<string, string>();
  readonly flatTags: string[] = [];
  readonly consumers = new Set<string>();
  readonly names: Names;
  name = '';
  settings: Record<string, unknown> = { ...plain };
  version = '1.11.4';
  assessments = false;
  mode: string | undefined;
  pool: string | undefined;
  ownsPool = false;
  destroyAt: string | null = null;
  destroyAfter: string | null = null;
  /** whether it was set not to inherit the duration of its project */
  ownsSchedule = false;
  prefixes: readonly string[] = [];
  patterns: readonly string[] = [];
  repository: Record<string, unknown> | null = null;
  source: Members = { 'source-name': null, 'source-url': null };
  project: Project;
  sshKey: string | null = null;
  lock: Lock | undefined;
  everLocked = false;
  /** whether every workspace of the project may read the state (wire/workspaces 1.5.3) */
  projectSharing = false;
  resources = 0;
  retention: { readonly type: string; readonly attributes: Members } | undefined;

  constructor(names: Names, project: Project) {
    this.names = names;
    this.project = project;
  }

  /** A create or an update. @throws Refusal */
  write(attributes: Members, creating: boolean): void {
    if (typeof attributes['name'] === 'string') this.name = attributes['name'];
    for (const name of Object.keys(plain)) {
      if (attributes[name] !== undefined) this.settings[name] = attributes[name];
    }
    const version = attributes[this.names.version];
    if (typeof version === 'string') this.version = version;
    // Resets to its default if it is not sent, according to the documentation of the vendor (wire/workspaces 2.1).
    this.assessments = attributes['assessments-enabled'] === true;
    this.#writeExecution(attributes);
    this.#writeTriggers(attributes);
    this.#writeRepository(attributes['vcs-repo'], creating);
    this.#writeAutoDestroy(attributes);
    if (creating) {
      const { 'source-name': name = null, 'source-url': url = null } = attributes;
      this.source = { 'source-name': name, 'source-url': url };
    }
  }

  #writeExecution(attributes: Members): void {
    const mode = attributes['execution-mode'];
    const pool = attributes['agent-pool-id'];
    if (mode !== undefined && attributes['operations'] !== undefined)
      throw invalid('Operations and execution mode cannot be set together');
    if (typeof mode === 'string') {
      this.mode = mode;
      this.ownsPool = true;
      if (mode !== 'agent') this.pool = undefined;
    }
    const overwrites = attributes['setting-overwrites'] as Members | undefined;
    if (overwrites?.['execution-mode'] === false) this.mode = undefined;
    if (overwrites?.['execution-mode'] === true && this.mode === undefined)
      throw invalid('Execution mode must be given when it is overwritten');
    if (overwrites?.['agent-pool'] === false || this.mode === undefined) {
      this.ownsPool = false;
      this.pool = undefined;
    }
    if (pool === undefined || pool === '') return;
    if (this.mode !== 'agent') throw invalid(`Agent pool cannot be set in the mode ${String(this.mode)}`);
    this.pool = String(pool);
  }

  #writeTriggers(attributes: Members): void {
    const { 'trigger-prefixes': prefixes, 'trigger-patterns': patterns } = attributes;
    if (prefixes !== undefined && patterns !== undefined)
      throw invalid('Trigger prefixes and trigger patterns cannot be set together');
    if (Array.isArray(prefixes)) {
      this.prefixes = prefixes;
      if (prefixes.length > 0) this.patterns = [];
    }
    if (Array.isArray(patterns)) {
      this.patterns = patterns;
      if (patterns.length > 0) this.prefixes = [];
    }
  }

  #writeRepository(value: unknown, creating: boolean): void {
    if (value === undefined) return;
    this.repository = value === null ? null : this.#merged(value as Members, creating);
    const regex = this.repository?.['tags-regex'] ?? '';
    if (regex !== '') this.settings['file-triggers-enabled'] = false;
  }

  #merged(given: Members, creating: boolean): Record<string, unknown> {
    const named = connections(this.names).filter((name) => given[name] !== undefined);
    const broken = named.find((name) => given[name] === '' || given[name] === null);
    if (broken !== undefined) throw new Refusal(400, 'bad request', `invalid ${broken.replaceAll('-', '_')}`);
    if (named.length > 1) throw invalid('Give an OAuth token or an app installation');
    if (this.repository === null && (named.length === 0 || given['identifier'] === undefined))
      throw invalid(`A repository needs an identifier and a connection${creating ? '' : ' to be added'}`);
    const kept = { ...this.repository };
    if (named.length === 1) for (const name of connections(this.names)) delete kept[name];
    return { branch: '', 'ingress-submodules': false, 'tags-regex': null, ...kept, ...given };
  }

  #writeAutoDestroy(attributes: Members): void {
    const { 'auto-destroy-at': at, 'auto-destroy-activity-duration': after } = attributes;
    if (attributes['inherits-project-auto-destroy'] === false) this.ownsSchedule = true;
    if (typeof at === 'string') this.destroyAt = `${new Date(at).toISOString().slice(0, 16)}:00.000Z`;
    if (at === null) this.destroyAt = null;
    if (typeof at === 'string' && after === undefined) {
      this.destroyAfter = null;
      this.ownsSchedule = true;
    }
    if (after === undefined) return;
    const inherits = attributes['inherits-project-auto-destroy'] !== false;
    if (inherits && this.project.autoDestroy !== undefined && after !== this.project.autoDestroy)
      throw invalid('Auto destroy activity duration must match the project, unless it is not inherited');
    this.destroyAfter = typeof after === 'string' ? after : null;
    if (typeof after === 'string' && at === undefined) this.destroyAt = '2031-01-01T00:00:00.000Z';
  }

  #duration(): string | null {
    return this.ownsSchedule ? this.destroyAfter : (this.destroyAfter ?? this.project.autoDestroy ?? null);
  }

  /** The document in responses of create, show, list and the list of consumers. @param mayWrite the caller's permissions */
  document(mayWrite: boolean): Members {
    const { mode = 'remote', settings, names } = this;
    return {
      id: this.id,
      type: 'workspaces',
      attributes: {
        ...settings,
        ...this.source,
        name: this.name,
        [names.version]: this.version,
        'assessments-enabled': this.assessments,
        'auto-destroy-at': this.destroyAt,
        'auto-destroy-activity-duration': this.#duration(),
        'inherits-project-auto-destroy': this.destroyAfter === null && !this.ownsSchedule,
        'execution-mode': mode,
        operations: mode !== 'local',
        'setting-overwrites': { 'execution-mode': this.mode !== undefined, 'agent-pool': this.ownsPool },
        'trigger-prefixes': this.prefixes,
        'trigger-patterns': this.patterns,
        'vcs-repo': this.repository === null ? null : this.#repositoryDocument(this.repository),
        'vcs-repo-identifier': this.repository?.['identifier'] ?? null,
        'tag-names': this.flatTags,
        locked: this.lock !== undefined,
        'locked-reason': this.lock?.reason ?? (this.everLocked ? '' : null),
        'resource-count': this.resources,
        permissions: { 'can-update': mayWrite, 'can-destroy': mayWrite, 'can-force-delete': mayWrite },
        // Attributes of real responses that the specifications do not have.
        'project-remote-state': this.projectSharing,
        'hyok-enabled': false,
        source: 'tfe-api',
      },
      relationships: this.#relationships(),
    };
  }

  #repositoryDocument(repository: Members): Members {
    const identifier = repository['identifier'];
    return { ...repository, 'display-identifier': identifier, 'webhook-url': 'https://hooks.example.com/1' };
  }

  /** A relationship that is unset is absent, not null (wire/workspaces 1.5.14). */
  #relationships(): Members {
    const to = (type: string, id: string) => ({ data: { type, id } });
    return {
      organization: to('organizations', 'acme'),
      project: to('projects', this.project.id),
      ...(this.pool === undefined ? {} : { 'agent-pool': to('agent-pools', this.pool) }),
      ...(this.lock === undefined ? {} : { 'locked-by': to('users', this.lock.by) }),
      ...(this.sshKey === null ? {} : { 'ssh-key': to('ssh-keys', this.sshKey) }),
      ...(this.retention === undefined
        ? {}
        : { 'data-retention-policy': to(this.retention.type, `drp-${this.id}`) }),
    };
  }

  /** Ids are random. Inherited tags name their project in a link and in a relationship; direct ones have no links (1.5.5). */
  effectiveTags(): Members[] {
    const item = (key: string, value: string, more: Members) => ({
      id: randomBytes(4).toString('hex'),
      type: 'effective-tag-bindings',
      attributes: { key, value },
      ...more,
    });
    const inherited = Object.entries(this.project.tags ?? {}).filter(([key]) => !this.tags.has(key));
    return [
      ...[...this.tags].map(([key, value]) => item(key, value, {})),
      ...inherited.map(([key, value]) =>
        item(key, value, {
          links: { 'inherited-from': `/api/v2/projects/${this.project.id}` },
          relationships: { 'inherited-from': { data: { type: 'projects', id: this.project.id } } },
        }),
      ),
    ];
  }

  bind(tags: readonly Members[], replace: boolean): void {
    const added = tags.map(({ attributes }) => attributes as { key: string; value: string });
    const keys = new Set([...(replace ? [] : this.tags.keys()), ...added.map(({ key }) => key)]);
    if (keys.size > 10) throw invalid('A workspace can have at most 10 tag bindings');
    if (replace) this.tags.clear();
    for (const { key, value } of added) this.tags.set(key, value);
  }
}
