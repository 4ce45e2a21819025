from __future__ import annotations

from django.core.management import call_command

from config.api_schema import document


def test_the_published_document_is_what_the_code_says():
    call_command("api_contract", "--check")


def test_every_operation_has_a_name_and_says_what_it_answers():
    operations = [
        operation
        for path in document()["paths"].values()
        for method, operation in path.items()
        if method in {"get", "post", "put", "patch", "delete"}
    ]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    assert all(operation["responses"] and operation["description"] for operation in operations)
