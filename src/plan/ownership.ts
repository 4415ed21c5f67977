/**
 * May this stack write a declared resource? The decision tables of RULES 21 and 24, in one place. Nothing is taken over
 * silently: what is not provably ours is a problem that says which line would make it so.
 */
import { formatAddress } from '../model/address.ts';
import { formatClaim } from '../model/claim.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Origin } from '../model/ledger.ts';
import type { Claim, DesiredResource, LiveResource } from '../model/resource.ts';
import type { Scene } from './scene.ts';

/** The claim before and after; each absent where there is none. */
export interface ClaimChange {
  readonly before?: string;
  readonly after?: string;
}

export type Verdict =
  | {
      readonly is: 'ours';
      readonly action: 'create' | 'update' | 'adopt';
      readonly reason: string;
      readonly origin: Origin;
      /** the claim that the resource shall bear; kinds owned by claim only */
      readonly claim?: Claim;
      /** present when the claim has to be written */
      readonly claimChange?: ClaimChange;
    }
  /** live, not in the ledger: ours only if it is exactly what is declared, or if the manifest adopts it */
  | { readonly is: 'unrecorded' }
  | { readonly is: 'problem'; readonly problem: Diagnostic }
  /** a part of something that has a problem itself, which is told there */
  | { readonly is: 'blocked' };

export function judgeDeclared(scene: Scene, resource: DesiredResource): Verdict {
  const { ownership } = scene.kind(resource.address.kind);
  const live = scene.live.get(formatAddress(resource.address));
  if (ownership.by === 'part') return judgePart(scene, resource, ownership.of(resource.address));
  if (live === undefined) return judgeMissing(scene, resource, ownership.by === 'claim');
  return ownership.by === 'claim' ? judgeClaim(scene, resource, live) : judgeRecord(scene, resource);
}

function judgeMissing(scene: Scene, resource: DesiredResource, claims: boolean): Verdict {
  const known = scene.record(resource.address) !== undefined;
  const reason = known ? 'declared and applied before, but gone from the service' : 'declared, not live';
  const claim = wantedClaim(scene, resource);
  return {
    is: 'ours',
    action: 'create',
    reason,
    origin: 'created',
    ...(claims ? { claim, claimChange: { after: formatClaim(claim) } } : {}),
  };
}

function wantedClaim(scene: Scene, { metadata }: DesiredResource): Claim {
  return {
    stack: scene.stack.name,
    protect: metadata.protect ?? false,
    release: metadata.onRemove === 'release',
    inherited: false,
  };
}

/** RULES 21. */
function judgeClaim(scene: Scene, resource: DesiredResource, live: LiveResource): Verdict {
  const { claim, bornOf } = live.witness;
  const wanted = wantedClaim(scene, resource);
  const record = scene.record(resource.address);
  const ours = (name: string | undefined) => name === scene.stack.name || name === scene.stack.renamedFrom;
  const origin: Origin = record?.origin ?? (ours(bornOf) ? 'created' : 'adopted');
  const own = { is: 'ours', origin, claim: wanted } as const;
  if (claim?.inherited) return problem(resource, inheritedClaim(resource, claim));
  if (claim !== undefined && !ours(claim.stack)) return problem(resource, foreignClaim(resource, claim));
  if (claim !== undefined) {
    const [before, after] = [formatClaim(claim), formatClaim(wanted)];
    const reason = 'declared, and live differs';
    return {
      ...own,
      action: 'update',
      reason,
      ...(before === after ? {} : { claimChange: { before, after } }),
    };
  }
  const claimChange = { after: formatClaim(wanted) };
  if (ours(bornOf) || (record?.id !== undefined && record.id === live.id)) {
    return {
      ...own,
      action: 'update',
      reason: 'ours, but its claim was removed: the claim is restored',
      claimChange,
    };
  }
  if (resource.metadata.adopt)
    return {
      ...own,
      action: 'adopt',
      reason: 'exists without a claim, and the manifest adopts it',
      claimChange,
    };
  return problem(resource, unclaimed(resource));
}

/** RULES 24, for resources that can bear no mark: the ledger is the witness. */
function judgeRecord(scene: Scene, resource: DesiredResource): Verdict {
  const record = scene.record(resource.address);
  if (record === undefined) return { is: 'unrecorded' };
  return { is: 'ours', action: 'update', reason: 'declared, and live differs', origin: record.origin };
}

/** What a live resource without a record comes to, once it is known whether it differs (RULES 24). */
export function judgeUnrecorded(resource: DesiredResource, differs: boolean): Verdict {
  const own = { is: 'ours', origin: 'adopted' } as const;
  if (!differs) return { ...own, action: 'update', reason: 'live, and exactly as declared' };
  if (resource.metadata.adopt) {
    return {
      ...own,
      action: 'adopt',
      reason: 'exists, was never written by this stack, and the manifest adopts it',
    };
  }
  return problem(resource, unrecorded(resource));
}

/** A part belongs to whoever owns the whole. */
function judgePart(scene: Scene, resource: DesiredResource, whole: DesiredResource['address']): Verdict {
  const text = formatAddress(whole);
  const declared = scene.desired.get(text);
  const live = scene.live.get(text);
  const update = {
    is: 'ours',
    action: 'update',
    reason: 'declared, and live differs',
    origin: 'adopted',
  } as const;
  if (declared !== undefined) {
    const verdict = judgeDeclared(scene, declared);
    if (verdict.is !== 'ours') return { is: 'blocked' };
    const reason = `declared for ${text}, which this plan creates`;
    return verdict.action === 'create' ? { ...update, action: 'create', reason, origin: 'created' } : update;
  }
  if (live === undefined) return problem(resource, missingWhole(resource, text));
  const { claim } = live.witness;
  if (claim?.inherited) return problem(resource, inheritedClaim(resource, claim));
  if (claim !== undefined && claim.stack !== scene.stack.name)
    return problem(resource, foreignClaim(resource, claim));
  if (claim !== undefined || scene.record(resource.address) !== undefined) return update;
  if (resource.metadata.adopt)
    return {
      ...update,
      action: 'adopt',
      reason: `${text} bears no claim, and the manifest adopts this part of it`,
    };
  return problem(resource, unclaimed(resource));
}

type Told = Pick<Diagnostic, 'code' | 'class' | 'message' | 'fix'>;

function problem(resource: DesiredResource, told: Told): Verdict {
  return { is: 'problem', problem: { severity: 'error', place: resource.place, ...told } };
}

function unclaimed({ address }: DesiredResource): Told {
  return {
    code: 'exists-unclaimed',
    class: 'conflict',
    message: `"${formatAddress(address)}" exists and bears no claim of any stack`,
    fix: 'add "adopt: true" to its metadata to take it over; the next plan then shows every difference',
  };
}

function unrecorded({ address }: DesiredResource): Told {
  return {
    code: 'exists-unrecorded',
    class: 'conflict',
    message: `"${formatAddress(address)}" exists, differs from its manifest, and was never written by this stack`,
    fix: 'add "adopt: true" to its metadata to take it over; the next plan then shows every difference',
  };
}

function foreignClaim({ address }: DesiredResource, claim: Claim): Told {
  return {
    code: 'claimed-by-another-stack',
    class: 'conflict',
    message: `"${formatAddress(address)}" is claimed by stack "${claim.stack}"`,
    fix: `remove its manifest here, or release it there (metadata.onRemove: release) and adopt it here`,
  };
}

function inheritedClaim({ address }: DesiredResource, claim: Claim): Told {
  return {
    code: 'claim-inherited',
    class: 'conflict',
    message: `"${formatAddress(address)}" inherits the claim of stack "${claim.stack}" from its project, which would claim every workspace in it`,
    fix: 'remove that tag binding from the project',
  };
}

function missingWhole({ address }: DesiredResource, whole: string): Told {
  return {
    code: 'unknown-reference',
    class: 'invalid',
    message: `"${formatAddress(address)}" is a part of "${whole}", which is neither declared nor live`,
    fix: 'declare it, or correct the name',
  };
}
