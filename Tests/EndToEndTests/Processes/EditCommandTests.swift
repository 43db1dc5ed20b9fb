import Foundation
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// Changing, copying and moving deliveries, as operators type it.
@Suite struct EditCommandTests: CommandSuite {
    let site: CommandSite

    init() async throws { site = try await CommandSite() }

    private func row(_ id: String, _ columns: String) async throws -> String? {
        try await value("SELECT concat_ws(' ', \(columns)) FROM pushmta_engine.delivery WHERE id = \(id)")
    }

    private func start(_ id: String, _ moment: String) async throws {
        try await sql("SELECT pushmta.start_delivery(\(id), '\(moment)')")
    }

    /// The id of a new delivery.
    private func make() async throws -> String {
        try await addShop()
        try await run("exclusion", "create", "control")
        let content = #"{"ios": {"title": "a"}}"#
        let made = try await run(
            "delivery",
            "create",
            "--label",
            "Sale",
            "--app",
            "shop-ios",
            "--content",
            content,
            "--rate",
            "50"
        )
        return made.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func aDeliveryIsChanged() async throws {
        let id = try await make()
        let changed = try await run(
            "delivery",
            "update",
            id,
            "--label",
            "Winter sale",
            "--filter",
            "locale = 'fr'",
            "--exclude",
            "control",
            "--priority",
            "7",
            "--validity",
            "3600",
            "--report-ambiguous",
            "--one-per-user",
            "--retry-schedule",
            "exponential"
        )
        #expect(changed.output.hasPrefix("Delivery \(id) was changed."))
        let columns = "label, target_filter, priority, validity, ambiguity_policy, one_per_user, retry_schedule"
        #expect(try await row(id, columns) == "Winter sale locale = 'fr' 7 01:00:00 report t exponential")
        let lists = "SELECT count(*) FROM pushmta_engine.delivery_exclusion_list"
        #expect(try await value(lists) == "1")
        let content = #"{"ios": {"title": "b"}}"#
        try await run(
            "delivery",
            "update",
            id,
            "--content",
            content,
            "--filter",
            "",
            "--no-exclude",
            "--no-one-per-user"
        )
        #expect(try await row(id, "content, target_filter, one_per_user, label") == content + " f Winter sale")
        #expect(try await value(lists) == "0")
        try await run("delivery", "update", id, "--ends-at", "2999-12-01 00:00:00+01:00")
        #expect(try await row(id, "ends_at AT TIME ZONE 'UTC'") == "2999-11-30 23:00:00")
        let told = try await run("delivery", "update", id, "--max-retries", "1", "--json").json()
        #expect(told["id"] as? Int == Int(id))
        let faulty: [[String]] = [
            [], ["--label", ""], ["--priority", "101"], ["--ends-at", "tomorrow"],
            ["--validity", "60", "--ends-at", "2999-12-01T00:00:00Z"], ["--exclude", "control", "--no-exclude"],
        ]
        for wrong in faulty {
            let environment = ["PUSHMTA_DATABASE_URL": database.connectionString]
            let ending = try await program.run(["delivery", "update", id] + wrong, environment: environment)
            #expect(ending.status == 64, "\(wrong): \(ending.errors)")
        }
        #expect(
            try await run("delivery", "update", id, "--filter", "citi = 'Lyon'", expect: 65).errors.contains(
                "character 1"
            )
        )
        let unknown = try await run("delivery", "update", id, "--exclude", "contrl", expect: 65)
        #expect(unknown.errors.contains("Did you mean control?"))
        let typo = try await run("delivery", "update", id, "--content", #"{"ios": {"titel": "b"}}"#, expect: 65)
        #expect(typo.errors.contains("titel"))
        try await run("delivery", "update", "99999", "--label", "x", expect: 65)
        #expect(try await row(id, "label") == "Winter sale")
    }

    @Test func aDeliveryIsCopiedAndItsStartIsMoved() async throws {
        let id = try await make()
        let copied = try await run("delivery", "copy", id, "--label", "Again", "--json").json()
        let copy = try #require(copied["id"] as? Int)
        #expect(try await row("\(copy)", "label, state") == "Again editing")
        let plain = try await run("delivery", "copy", "\(copy)").output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try await row(plain, "label, state") == "Again editing")
        try await run("delivery", "copy", id, "--label", "", expect: 64)
        try await run("delivery", "copy", "99999", expect: 65)
        let early = try await run("delivery", "reschedule", id, "--at", "2999-12-01T00:00:00Z", expect: 65)
        #expect(early.errors.contains("no start"))
        try await start(id, "2999-12-01T00:00:00Z")
        let moved = try await run("delivery", "reschedule", id, "--at", "2999-12-02T00:00:00Z")
        #expect(moved.output == "Delivery \(id) starts at 2999-12-02T00:00:00Z.\n")
        #expect(try await row(id, "state, start_at AT TIME ZONE 'UTC'") == "pending 2999-12-02 00:00:00")
        try await run("delivery", "reschedule", id, "--at", "2020-12-02T00:00:00Z", expect: 65)
        try await run("delivery", "reschedule", id, "--at", "tomorrow", expect: 64)
        try await run("delivery", "reschedule", id, expect: 64)
        try await run("delivery", "reschedule", id, "--at", "2999-12-02T00:00:00Z", "--edit", expect: 64)
        #expect(try await run("delivery", "reschedule", id, "--edit").output == "Delivery \(id) is editing again.\n")
        #expect(try await row(id, "state, start_at") == "editing")
    }

    @Test func whatHasEndedIsArchivedAndCompared() async throws {
        let id = try await make()
        try await run("delivery", "archive", id, expect: 65)
        try await sql("SELECT pushmta.stop_delivery(\(id))")
        #expect(try await run("delivery", "archive", id).output.contains("Delivery \(id) is archived."))
        #expect(try await run("delivery", "archive", id).output.contains("is archived already"))
        #expect(try await !run("delivery", "list").output.contains("Sale"))
        #expect(try await run("delivery", "list", "--archived").output.contains("Sale"))
        #expect(try await run("delivery", "archive", id, "--undo").output.contains("is not archived"))
        #expect(try await run("delivery", "list").output.contains("Sale"))
        let compared = try await run("delivery", "compare", id, id).output
        for words in ["measure", "first_percent", "received", "clicked"] {
            #expect(compared.contains(words), "\(words): \(compared)")
        }
        try await run("delivery", "compare", id, "99999", expect: 65)
    }
}
