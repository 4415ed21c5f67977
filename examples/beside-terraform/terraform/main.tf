terraform {
  required_providers {
    # ignore_additional_tags needs 0.65.
    tfe = { source = "hashicorp/tfe", version = ">= 0.65.0" }
  }
}

# Terraform makes these two workspaces, and manages their name, project and tags. trueup manages the rest.
resource "tfe_workspace" "network" {
  for_each = toset(["prod", "staging"])

  name         = "network-${each.key}"
  organization = "acme"
  project_id   = "prj-network"

  tags = {
    env = each.key
  }
  # The ownership tag of trueup stays.
  ignore_additional_tags = true

  lifecycle {
    # What trueup manages: the fields of manifests/network.yaml.
    ignore_changes = [auto_apply, description, terraform_version, remote_state_consumer_ids]
  }
}

# Terraform alone: no manifest names this workspace, so trueup never touches it.
resource "tfe_workspace" "billing" {
  name         = "billing-prod"
  organization = "acme"

  tags = {
    env = "prod"
  }
}
