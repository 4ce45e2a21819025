#!/bin/sh
# Writes the secrets that compose.yaml reads, where they are missing; what is there stays.
set -eu
cd "$(dirname "$0")/.."
mkdir -p secrets
umask 077
keep() { [ -s "secrets/$1" ] || printf '%s' "$2" > "secrets/$1"; }
random() { od -An -N48 -tx1 /dev/urandom | tr -d ' \n'; }
for name in secret_key postgres_password owner_password app_password metrics_token; do keep "$name" "$(random)"; done
keep database_url "postgresql://earmark_app:$(cat secrets/app_password)@postgres/earmark"
keep database_owner_url "postgresql://earmark_owner:$(cat secrets/owner_password)@postgres/earmark"
# Replace it where an embedding service wants a key.
keep openai_api_key none
# Replace it where mail is sent: smtp://user:password@host:587
keep email_url none
# Replace it where people sign in with a provider of their own.
keep oidc_client_secret none
# The containers read them under their own user id.
chmod 644 secrets/*
chmod 711 secrets
