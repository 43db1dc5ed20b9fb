import PushCore
import Store
import Testing

@testable import WebServer

/// The approval of a delivery through the API.
@Suite struct APIApprovalTests {
    /// A site whose service asks for approvals above one message, with an analysed delivery to three people that the
    /// key "shop" made.
    private func ready() async throws -> (site: APISite, maker: String, path: String) {
        let site = try await APISite.start()
        let admin = site.web.admin
        try await admin.seedSubscriptions(application: "shop-ios", count: 3)
        try await admin.setApprovalRule(service: try await admin.services()[0].name, above: 1)
        let maker = try await site.key(.writeDeliveries, .readDeliveries, .approveDeliveries, name: "shop")
        let made = try await site.call(
            "POST",
            "/deliveries",
            key: maker,
            #"{"label": "Sale", "applications": ["shop-ios"], "content": {"ios": {"title": "a"}}}"#
        )
        #expect(made.status == 201, "\(made.answer)")
        let path = "/deliveries/\(made["id"] ?? "")"
        let early = try await site.call("POST", "\(path)/start", key: maker)
        #expect(early.status == 409 && early["remedy"]?.contains("Analyse") == true, "\(early.answer)")
        #expect(try await site.call("POST", "\(path)/analysis", key: maker).status == 202)
        let job = try #require(try await admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !admin.prepareChunk(job, partSize: 1_000, partsPerChunk: 50).done {}
        _ = try await admin.endAnalysis(of: job, AnalysisFindings())
        return (site, maker, path)
    }

    @Test func anotherKeyApproves() async throws {
        let (site, maker, path) = try await ready()
        let refused = try await site.call("POST", "\(path)/start", key: maker)
        #expect(refused.status == 409 && refused["detail"]?.contains("3 messages") == true, "\(refused.answer)")
        let waiting = try await site.call("GET", "\(path)/approval", key: maker)
        #expect(waiting["awaited"] == "true" && waiting["above"] == "1" && waiting["messages"] == "3")
        #expect(waiting["makers"] == #"["API key shop"]"# && waiting["approval"] == "null")
        let own = try await site.call("POST", "\(path)/approve", key: maker)
        #expect(own.status == 409 && own["detail"]?.contains("API key shop") == true, "\(own.answer)")
        let blind = try await site.key(.writeDeliveries, .readDeliveries)
        #expect(try await site.call("POST", "\(path)/approve", key: blind).status == 403)
        let other = try await site.key(.approveDeliveries, name: "legal")
        let old = #"{"version": "00000000000000000000"}"#
        let stale = try await site.call("POST", "\(path)/approve", key: other, old)
        #expect(stale.status == 409 && stale["detail"]?.contains("changed since you looked") == true, "\(stale.answer)")
        let seen = #"{"comment": "fine", "version": "\#(waiting["version"] ?? "")"}"#
        let approved = try await site.call("POST", "\(path)/approve", key: other, seen)
        #expect(approved.status == 200 && approved["awaited"] == "false", "\(approved.answer)")
        #expect(approved["approval.by"] == "API key legal" && approved["approval.comment"] == "fine")
        let withdrawn = try await site.call("DELETE", "\(path)/approval", key: other)
        #expect(withdrawn.status == 200 && withdrawn["approval"] == "null", "\(withdrawn.answer)")
        #expect(try await site.call("DELETE", "\(path)/approval", key: other).status == 409)
        #expect(try await site.call("POST", "\(path)/approve", key: other).status == 200)
        #expect(try await site.call("POST", "\(path)/start", key: maker).status == 200)
        #expect(try await site.call("POST", "\(path)/approve", key: other).status == 409)
        try await site.finish()
    }

    @Test func aRequestNamesTheStart() async throws {
        let (site, maker, path) = try await ready()
        let request = "\(path)/request-approval"
        #expect(try await site.call("POST", request, key: maker, #"{"startAt": "2001-01-01T00:00:00Z"}"#).status == 400)
        let reader = try await site.key(.readDeliveries)
        #expect(try await site.call("POST", request, key: reader).status == 403)
        let asked = try await site.call("POST", request, key: maker)
        #expect(asked.status == 200 && asked["startsApproved"] == "true", "\(asked.answer)")
        #expect(asked["startAt"] == "null" && asked["request.by"] == "API key shop" && asked["awaited"] == "true")
        #expect(try await site.call("GET", path, key: maker)["state"] == "pending")
        #expect(try await site.call("POST", request, key: maker).status == 409)
        let other = try await site.key(.approveDeliveries, name: "legal")
        #expect(try await site.call("POST", "\(path)/approve", key: other).status == 200)
        let begun = try await site.call("GET", "\(path)/approval", key: maker)
        #expect(begun["startsApproved"] == "false" && begun["startAt"] != "null", "\(begun.answer)")
        try await site.finish()
    }

    @Test func aRejectedDeliveryIsEditedAgain() async throws {
        let (site, maker, path) = try await ready()
        let other = try await site.key(.approveDeliveries, name: "legal")
        #expect(try await site.call("POST", "\(path)/reject", key: other, #"{"reason": ""}"#).status == 400)
        let rejected = try await site.call("POST", "\(path)/reject", key: other, #"{"reason": "too loud"}"#)
        #expect(rejected.status == 200, "\(rejected.answer)")
        let read = try await site.call("GET", path, key: maker)
        #expect(read["state"] == "editing" && read["stateReason"] == "API key legal rejected it: too loud")
        try await site.finish()
    }
}
