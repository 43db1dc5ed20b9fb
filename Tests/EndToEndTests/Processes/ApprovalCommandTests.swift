import Foundation
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// Approving and rejecting deliveries, as operators type it.
@Suite struct ApprovalCommandTests: CommandSuite {
    let site: CommandSite

    init() async throws { site = try await CommandSite() }

    /// The id of a delivery that is analysed, with 50 messages.
    private func ready() async throws -> String {
        try await sql(
            """
            INSERT INTO pushmta_engine.service (name) VALUES ('shop');
            INSERT INTO pushmta_engine.external_account (name, connector) VALUES ('apns', 'ios-http2');
            INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed) VALUES ('apns_key', 'c', 'k', 'x');
            INSERT INTO pushmta_engine.application (service_id, name, platform, integration_key, bundle_id,
                    external_account_id, credential_id)
                SELECT v.id, 'shop-ios', 'ios', 'key', 'com.shop', e.id, c.id
                FROM pushmta_engine.service v, pushmta_engine.external_account e, pushmta_engine.credential c
            """
        )
        try await run("approval", "rule", "shop", "--above", "10")
        let content = #"{"ios": {"title": "a"}}"#
        let made = try await run("delivery", "create", "--label", "Sale", "--app", "shop-ios", "--content", content)
        let id = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        try await run("delivery", "start", id, expect: 65)
        try await sql(
            """
            UPDATE pushmta_engine.delivery SET state = 'ready', log_day = current_date, prepared = true, analysed = true,
                target = 50, frozen_at = now(), frozen_until = now() + interval '1 hour',
                frozen_digest = pushmta_engine.preparation_digest(id);
            INSERT INTO pushmta_engine.delivery_analysis (delivery_id, messages, finished_at)
                SELECT id, 50, now() FROM pushmta_engine.delivery
            """
        )
        return id
    }

    @Test func somebodyElseApproves() async throws {
        let id = try await ready()
        let rules = try await run("approval", "rules").output
        #expect(rules.contains("shop") && rules.contains("10"))
        let waiting = try await run("approval", "list").output
        #expect(waiting.contains(id) && waiting.contains("50") && waiting.contains("login "))
        let refused = try await run("delivery", "start", id, expect: 65).errors
        #expect(refused.contains("50 messages need the approval") && refused.contains("delivery approve"))
        try await run("approval", "request", id, "--at", "tomorrow", expect: 64)
        #expect(try await run("approval", "request", id).output.contains("as soon as somebody else has approved it"))
        #expect(try await run("approval", "list").output.contains("as soon as approved"))
        try await run("approval", "request", id, expect: 65)
        #expect(try await run("delivery", "approve", id, expect: 65).errors.contains("somebody else"))
        try await sql("UPDATE pushmta_engine.delivery_maker SET name = 'anna'")
        try await run("approval", "person", "Anna", "--login", "anna", "--console", "anna")
        #expect(try await run("approval", "people").output.contains("console"))
        #expect(try await run("delivery", "approve", id).output.contains("It starts now."))
        let stale = try await run("delivery", "approve", id, "--expected", "00000000000000000000", expect: 65).errors
        #expect(stale.contains("changed since you looked"))
        let approval = try await run("delivery", "approve", id, "--comment", "fine", "--json")
        #expect(approval.errors.contains("50 messages") && approval.errors.contains("made by login anna"))
        let approved = try approval.json()
        #expect(approved["target"] as? Int == 50)
        #expect(try await run("approval", "list", "--json").output.hasPrefix("[]"))
        try await run("delivery", "approve", id, "--withdraw")
        try await run("delivery", "start", id, expect: 65)
        try await run("delivery", "reject", id, "--reason", "too loud")
        #expect(try await run("delivery", "list").output.contains("editing"))
        try await run("delivery", "approve", id, expect: 65)
        try await run("approval", "rule", "shop", expect: 64)
        try await run("approval", "rule", "other", "--none", expect: 65)
        try await run("approval", "rule", "shop", "--none")
        #expect(try await run("approval", "rules", "--json").output.hasPrefix("[]"))
    }
}
