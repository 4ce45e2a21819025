"""Only two ways into the vectors: what is searched, and one chunk's.

Django made an index of each foreign key. Where the statistics lag behind - after an import, or with a second
embedding space - the planner could take one of them and read a whole organization or space for each search.
"""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

# Building and dropping concurrently waits for others without holding them up, however long that takes.
PATIENT = ["SET lock_timeout = 0"]
USUAL = ["RESET lock_timeout"]
BUILD = [
    "DROP INDEX CONCURRENTLY IF EXISTS knowledge_vector_only",
    "CREATE UNIQUE INDEX CONCURRENTLY knowledge_vector_only ON knowledge_vector (chunk_id, space_id)",
]
SWAP = [
    "ALTER TABLE knowledge_vector ADD CONSTRAINT knowledge_vector_only UNIQUE USING INDEX knowledge_vector_only",
    "ALTER TABLE knowledge_vector DROP CONSTRAINT knowledge_vector_once",
]
DROP = [
    "DROP INDEX CONCURRENTLY IF EXISTS knowledge_vector_chunk_id_6e13c474",
    "DROP INDEX CONCURRENTLY IF EXISTS knowledge_vector_organization_id_381f8c24",
    "DROP INDEX CONCURRENTLY IF EXISTS knowledge_vector_space_id_261712e5",
]
BACK = [
    "ALTER TABLE knowledge_vector ADD CONSTRAINT knowledge_vector_once UNIQUE (organization_id, chunk_id, space_id)",
    "ALTER TABLE knowledge_vector DROP CONSTRAINT knowledge_vector_only",
    "CREATE INDEX knowledge_vector_chunk_id_6e13c474 ON knowledge_vector (chunk_id)",
    "CREATE INDEX knowledge_vector_organization_id_381f8c24 ON knowledge_vector (organization_id)",
    "CREATE INDEX knowledge_vector_space_id_261712e5 ON knowledge_vector (space_id)",
]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("knowledge", "0013_imports_again")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL([*PATIENT, *BUILD, *USUAL, *SWAP, *PATIENT, *DROP, *USUAL], BACK)
            ],
            state_operations=[
                migrations.AlterField(
                    "vector",
                    "organization",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="tenants.organization",
                    ),
                ),
                migrations.AlterField(
                    "vector",
                    "space",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="knowledge.embeddingspace",
                    ),
                ),
                migrations.AlterField(
                    "vector",
                    "chunk",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="vectors",
                        to="knowledge.chunk",
                    ),
                ),
                migrations.RemoveConstraint("vector", "knowledge_vector_once"),
                migrations.AddConstraint(
                    "vector",
                    models.UniqueConstraint(
                        fields=("chunk", "space"), name="knowledge_vector_only"
                    ),
                ),
            ],
        ),
    ]
