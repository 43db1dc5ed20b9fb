import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// Experiments, as people type them.
@Suite struct ExperimentCommandTests: CommandSuite {
    let site: CommandSite

    init() async throws { site = try await CommandSite() }

    private func delivery() async throws -> String {
        let connection = try await database.connect()
        let result = try await connection.execute(
            PostgresStatement(
                """
                INSERT INTO pushmta_engine.delivery (label, kind, content) VALUES ('Sale', 'batch', '{"ios": {"title": "a"}}')
                RETURNING id::text
                """,
                prepare: false
            )
        )
        await connection.close()
        return try result.text(0, 0)
    }

    @Test func anExperimentIsSetShownAndRemoved() async throws {
        let id = try await delivery()
        let file = folder.path + "/b.json"
        try Data(#"{"ios": {"title": "b"}}"#.utf8).write(to: URL(fileURLWithPath: file))
        let set = try await run(
            "delivery",
            "experiment",
            id,
            "--variant",
            "plain:10%",
            "--variant",
            "emoji:20%=\(file)",
            "--decide-after",
            "3600",
            "--hold-out",
            "5"
        )
        #expect(set.output.contains("has 2 variants") && set.output.contains("65.0 % are the rest"), "\(set.output)")
        let shown = try await run("delivery", "experiment", "show", id).output
        #expect(shown.contains("by clicks, waits for its start") && shown.contains("emoji"), "\(shown)")
        let json = try await run("delivery", "experiment", "show", id, "--json").output
        #expect(json.contains(#""decide_after_seconds":3600"#) && json.contains(#""hold_out_percent":5.0"#), "\(json)")
        let early = try await run("delivery", "experiment", "winner", id, "2", expect: 65)
        #expect(early.errors.contains("has no experiment under way"), "\(early.errors)")
        try await run("delivery", "experiment", "remove", id)
        try await run("delivery", "experiment", "show", id, expect: 65)
    }

    @Test func whatMakesNoSenseSaysWhy() async throws {
        let id = try await delivery()
        let file = folder.path + "/bad.json"
        try Data(#"{"ios": {"titel": "b"}}"#.utf8).write(to: URL(fileURLWithPath: file))
        for variants in [
            ["10%"], ["10%", "ten"], ["10%", "0%"], ["10%", ":10%"], ["10%", "10"], ["10%", "10%="],
        ] {
            let options = variants.flatMap { ["--variant", $0] }
            let ending = try await program.run(["delivery", "experiment", "set", id] + options)
            #expect(ending.status == 64, "\(variants): \(ending.output) \(ending.errors)")
        }
        let content = try await run(
            "delivery",
            "experiment",
            "set",
            id,
            "--variant",
            "50%",
            "--variant",
            "50%=\(file)",
            expect: 65
        )
        #expect(content.errors.contains("titel"), "\(content.errors)")
        let rest = try await run(
            "delivery",
            "experiment",
            "set",
            id,
            "--variant",
            "50%",
            "--variant",
            "20%",
            expect: 65
        )
        #expect(rest.errors.contains("decide_after"), "\(rest.errors)")
        let message = try await run("message", "convert", "\(id)-1", expect: 65)
        #expect(message.errors.contains("No message with an outcome"), "\(message.errors)")
    }
}
