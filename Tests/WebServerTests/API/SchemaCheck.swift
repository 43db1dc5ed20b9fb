import Foundation
import PushCore
import TestSupport

/// Validates exchanges against an OpenAPI document with Python's `jsonschema`, which is independent software.
enum SchemaCheck {
    /// The deviations, one per line; "" if there are none.
    static func problems(_ exchanges: [APIExchange], document: String) async throws -> String {
        let folder = NSTemporaryDirectory() + "schema-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(script.utf8).write(to: URL(fileURLWithPath: folder + "/check.py"))
        try Data(document.utf8).write(to: URL(fileURLWithPath: folder + "/document.json"))
        let lines = exchanges.map { exchange in
            JSONValue.object([
                JSONEntry(name: "method", value: .string(exchange.method)),
                JSONEntry(name: "path", value: .string(exchange.path)),
                JSONEntry(name: "request", value: .string(exchange.body ?? "")),
                JSONEntry(name: "status", value: .number(String(exchange.status))),
                JSONEntry(name: "type", value: .string(exchange.headers["content-type"] ?? "")),
                JSONEntry(name: "answer", value: .string(exchange.answer.body)),
            ]).compactText
        }
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: folder + "/exchanges"))
        return try await Command.run(
            "/usr/bin/python3",
            ["-W", "ignore", folder + "/check.py", folder + "/document.json", folder + "/exchanges"],
            log: folder + "/log"
        )
    }

    /// Every schema is checked too, and an answer's members that it does not describe count as errors.
    private static let script = #"""
        import json, re, sys
        import jsonschema
        document = json.load(open(sys.argv[1]))

        def close(schema):
            if isinstance(schema, dict):
                if "properties" in schema and "additionalProperties" not in schema:
                    schema["additionalProperties"] = False
                for value in schema.values():
                    close(value)
            elif isinstance(schema, list):
                for value in schema:
                    close(value)

        close(document["components"]["schemas"])
        resolver = jsonschema.RefResolver("", document)
        for name, schema in document["components"]["schemas"].items():
            jsonschema.Draft202012Validator.check_schema(schema)
            for example in schema.get("examples", []):
                for error in jsonschema.Draft202012Validator(schema, resolver=resolver).iter_errors(example):
                    print(f"example of {name}: {error.message}")

        def references(value):
            if isinstance(value, dict):
                for key, inner in value.items():
                    if key == "$ref":
                        resolver.resolve(inner)
                    references(inner)
            elif isinstance(value, list):
                for inner in value:
                    references(inner)

        references(document)

        def errors(schema, value):
            checker = jsonschema.FormatChecker()
            validator = jsonschema.Draft202012Validator(schema, resolver=resolver, format_checker=checker)
            return [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(value)]

        def operation(method, path):
            path = path.split("?")[0]
            best = None
            for template, operations in document["paths"].items():
                pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(template))
                if re.fullmatch(pattern, path) and method.lower() in operations:
                    best = operations[method.lower()]
            return best

        problem = {"$ref": "#/components/schemas/Problem"}
        for line in open(sys.argv[2]):
            exchange = json.loads(line)
            place = f"{exchange['method']} {exchange['path']} {exchange['status']}"
            found = operation(exchange["method"], exchange["path"])
            if found is None:
                # No path or method of the document: the answer says so in the common form.
                if exchange["status"] not in (404, 405):
                    print(f"{place}: the document has no such operation")
                else:
                    for error in errors(problem, json.loads(exchange["answer"])):
                        print(f"{place}: {error}")
                continue
            answer = found["responses"].get(str(exchange["status"]))
            if answer is None:
                print(f"{place}: the document has no such status: {exchange['answer']}")
                continue
            if "content" not in answer:
                if exchange["answer"]:
                    print(f"{place}: a body where there should be none")
                continue
            content = answer["content"].get(exchange["type"].split(";")[0])
            if content is None:
                print(f"{place}: a content type that is not in the document: {exchange['type']}")
                continue
            if exchange["type"].startswith("text/"):
                continue
            for error in errors(content["schema"], json.loads(exchange["answer"])):
                print(f"{place}: {error}")
            # What was taken has to be what the document says is taken.
            if exchange["status"] < 300 and exchange["request"] and "requestBody" in found:
                schema = found["requestBody"]["content"]["application/json"]["schema"]
                for error in errors(schema, json.loads(exchange["request"])):
                    print(f"{place}: the request: {error}")
        """#
}
