"""Finds an organisation's checkpoint at the time of an anchor. Made while the sealer goes on."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False  # CONCURRENTLY
    dependencies = [("audit", "0012_anchors")]

    operations = [
        migrations.RunSQL(
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_checkpoint_at "
            "ON audit_checkpoint (tenant_id, id)",
            "DROP INDEX CONCURRENTLY IF EXISTS audit_checkpoint_at",
        )
    ]
