/** The explanation of each guard, for people who see its id: what trips it, and what to check before it is acknowledged. */
import type { BuiltInGuard } from './guard.ts';

interface GuardText {
  /** one line without a full stop */
  readonly title: string;
  /** whole sentences */
  readonly trips: string;
  /** details, as paragraphs of whole sentences */
  readonly more?: readonly string[];
  /** "spec.guards.allow" does not make it warn */
  readonly isFixed?: true;
  /** what to check, as an instruction without a full stop */
  readonly check: string;
}

export const guardTexts: Readonly<Record<BuiltInGuard, GuardText>> = {
  loosened: {
    title: 'The stack file loosens settings that protect the stack',
    trips:
      'A pull request, or the commits since the last apply, make a setting of the stack looser: limits and levels of "spec.guards", levels of "spec.lint", "spec.secrets", "spec.approvals", "spec.policies" with the policies in its files, and "owns", "exclusive", "ownership", "deletes" and "readBeforeWrite" of a target.',
    more: [
      'Only "trueup ci" compares two commits. The plan is made with the stricter settings of both, so a looser one counts only from the next apply on.',
      'It always blocks: "spec.guards.allow" does not change that.',
      'An acknowledgement covers the whole values before and after: all elements of a list, and all keys in a file of signers.',
    ],
    isFixed: true,
    check:
      'read each setting with its value before and after; to use the looser value, merge and apply it first by itself',
  },
  'older-commit': {
    title: 'A later commit was applied already',
    trips:
      'The last apply used a later commit of this repository, and the files of the stack differ between the two commits. This plan would undo the later changes.',
    more: ['A plan without changes never trips it. An apply that continues with an earlier approval does.'],
    check: 'update the checkout to the latest commit, unless you want to go back',
  },
  'diverged-commit': {
    title: 'The commit that was applied last is on another branch',
    trips:
      'Neither commit contains the other one, and the files of the stack differ. This plan would undo what only the other branch has.',
    check: 'merge the other commit, and plan again',
  },
  'missing-file': {
    title: 'A manifest that git tracks is missing from the work tree',
    trips:
      'The plan removes something, and a tracked manifest was not deleted by "git rm" or by a commit. The guard also fires when git cannot tell.',
    more: [
      'A sparse checkout or a submodule without content does not trip it: such a plan is incomplete, and it removes nothing.',
    ],
    check: 'restore the file, or delete it with "git rm" and commit',
  },
  deletes: {
    title: 'The plan deletes many resources',
    trips:
      'More resources are deleted than "spec.guards.maxDeletes" allows: of one kind in a target, in a target, or in the whole plan.',
    check: 'make sure that each delete in the plan is intended',
  },
  zero: {
    title: 'The plan deletes all resources of a kind in a target',
    trips:
      'Resources are deleted, and no other declared resource of the kind remains. Resources that are kept, such as protected ones, do not count. A single deletion counts when nothing of its kind is created.',
    check: 'make sure that the manifests were found: a wrong path or pattern looks like this',
  },
  'delete-percent': {
    title: 'The plan deletes a large part of the resources',
    trips:
      'The stack owns at least ten resources of a kind in a target, and more than "spec.guards.maxDeletePercent" percent of them are deleted.',
    check: 'make sure that each delete in the plan is intended',
  },
  'update-percent': {
    title: 'The plan updates a large part of the resources',
    trips:
      'The stack owns at least ten resources of a kind in a target, and more than "spec.guards.maxUpdatePercent" percent of them are updated.',
    check: 'look for one change of the defaults that affects all of them',
  },
  recreate: {
    title: 'A resource that the ledger records no longer exists',
    trips: 'The ledger has a record of the resource, and the service does not have it: somebody deleted it.',
    check: 'find out who deleted it, and why, before it is created again',
  },
  rename: {
    title: 'A new resource looks like one that is being removed',
    trips:
      'A workspace is created that is similar to one that is no longer declared, or a role that is similar to one that is deleted. A rename would keep the old resource.',
    more: [
      'Two workspaces are similar if they have the same VCS repository, or equal declared settings, tags and consumers. Projects are compared in the same way.',
      'The name of the resource, and the parts of it between "-" and "_", count as equal in these values: "Network of billing" in "billing" and "Network of invoicing" in "invoicing".',
      'For a renamed row of a list, give the former name in a column of the list, and use it in "metadata.renamedFrom" of the template.',
    ],
    check: 'for a rename, write the old name into "metadata.renamedFrom"',
  },
  'reference-changed': {
    title: 'A name in a manifest refers to another object than when it was applied',
    trips:
      'A project, an agent pool, an SSH key or a VCS connection is given by its name, and the ledger has another id for this name. Somebody renamed things in the service, swapped their names, or created another one under the same name.',
    more: [
      'It also fires if the ledger has the id of a resource under another name of the stack. For example, two workspaces exchanged their names in the service. Then the plan would write the settings of one into the other. The guard names both ids, and blocks even if the stack allows it. Give the resources their names back in the service.',
      'The id in the record of the resource counts. For a resource that did not have the name before, the ids in the records of all others in the target count.',
      'It also fires if the plan deletes or releases a resource under another name than the ledger has for it, and a document is a removal request for the former name.',
      'It also fires if nothing else of the resource changes. The apply that acknowledges it records the new id.',
    ],
    check: 'make sure that the name refers to the right object now; otherwise write another name, or the id',
  },
  'no-record': {
    title: 'The plan deletes a resource that the ledger does not know',
    trips:
      'The ledger has no record of the resource. In a target with "exclusive: true" the guard also fires for an adopted resource.',
    more: ['One such resource is enough, also with a removal request.'],
    check: 'make sure that no other team uses the resource',
  },
  'forced-delete': {
    title: 'A forced delete skips a check of the service',
    trips:
      'A document with "metadata.remove: force" deletes what a safe delete would refuse: a workspace that manages resources, that somebody else locked, or that was changed by others.',
    more: [
      'Where the service has no safe delete, every forced delete trips it, unless the target says "deletes: plain".',
      'Changes by others count in a target with "ownership: ledger".',
    ],
    check: 'destroy the resources of the workspace first, or accept that their state is lost',
  },
  adopt: {
    title: 'The plan changes an existing resource that it adopts',
    trips:
      'A resource exists, differs from its manifest, has no ownership tag, and was never written by this stack. "metadata.adopt: true" in its manifest confirms the adoption. With "ownership: ledger" every adoption trips the guard.',
    more: [
      'If the creator mark names another stack, the guard names that stack.',
      'If the ledger knows another id under this name, the guard blocks even with "metadata.adopt" or "spec.guards.allow": another team may have created a later resource of that name.',
    ],
    check: 'make sure that no other stack or team manages the resource',
  },
  unrecorded: {
    title: 'A resource has the tag of this stack, but no record in the ledger',
    trips:
      'The resource also differs from its manifest. Either the ledger was lost, or another repository has a stack with this name.',
    more: ['A resource that an interrupted apply of this stack was creating does not trip it.'],
    check: 'run "trueup recover" if the ledger was lost; otherwise rename one of the stacks',
  },
  takeover: {
    title: 'The stack takes over resources of another stack, or of its former name',
    trips:
      'The stack has "metadata.renamedFrom", and the former stack owned or recorded the resources; or a document has "metadata.movedFrom", and the other stack owns the resource.',
    check:
      'make sure that no apply runs under the former name any more, and that the team of the other stack agrees to the move',
  },
  wildcard: {
    title: 'A role admits every account or every namespace',
    trips: 'The role has "*" as a name or a namespace, or a namespace selector without labels.',
    more: ['Patterns such as "web-*" do not trip it.'],
    check: 'name the accounts and namespaces that need the role',
  },
  'cleared-audience': {
    title: 'A role stops checking the audience of JWTs',
    trips: 'The role had an audience, and the plan removes it. Then a JWT for any other service is accepted.',
    check: 'keep the audience, unless the issuer sets none',
  },
  'unlimited-lifetime': {
    title: 'Tokens of a role may live for ever',
    trips:
      'The tokens become renewable without end, or lose a limit of the role: "tokenMaxTtl" or "tokenExplicitMaxTtl".',
    check: 'set a limit, unless the token must outlive every limit',
  },
  'global-sharing': {
    title: 'A workspace shares its state with the whole organization',
    trips: 'The plan sets "globalRemoteState: true", also for a new workspace. A state can hold secrets.',
    check: 'name the workspaces that may read the state instead',
  },
  'scheduled-destroy': {
    title: 'The resources of a workspace will be destroyed automatically',
    trips:
      'The plan sets an automatic destroy, moves it to an earlier time, or allows again what prevented it. The project of the workspace can also cause it.',
    more: [
      'The causes are "autoDestroyAt", "autoDestroyActivityDuration", a move to a project with a shorter duration, and a fixed date in place of a duration that activity extends.',
      'Such a value can also take effect because destroy plans are allowed again, or because the runs of the workspace or its project are no longer local. The guard also fires if the project that decides cannot be read.',
      'For a workspace with "metadata.protect: true" the plan has the error "protected-destroy" instead, also where a change of its project is the cause.',
    ],
    check: 'make sure that the time is right and that nobody needs the resources after it',
  },
  widening: {
    title: 'Somebody gets more access',
    trips:
      'A change adds policies, accounts, namespaces, addresses, lifetime or readers of a state, or it trusts another cluster or repository.',
    more: [
      'A change from a lifetime of the role to that of the mount also counts, and so does the opposite change.',
    ],
    check: 'read the sentence with "widens" at each change',
  },
  'new-role': {
    title: 'The plan creates a role',
    trips: 'A new role lets accounts log in that could not log in with it before.',
    check: 'read who can log in, and which policies the tokens get',
  },
  'commit-unknown': {
    title: 'It is unknown whether a later commit was applied already',
    trips:
      'There is no git repository, or git cannot compare the commit of the last apply with this one. The guard blocks if the plan changes what an unknown commit, or uncommitted files, had set.',
    more: [
      'Other reasons are manifests that git does not track, and a remote that does not answer or lacks the commit.',
      'It blocks if neither this clone nor its remote has the applied commit, and the plan changes something that was applied since the last apply from a commit of this history. Without a history, every recorded field counts.',
      'It also blocks if the last apply used files of the stack that are not committed or that git ignores, or if it was made without git, and this plan changes what was applied from them. If files of the stack are uncommitted now as well, a changed field only warns.',
    ],
    check: 'run "git fetch", or plan from a full clone with the applied commit',
  },
};
