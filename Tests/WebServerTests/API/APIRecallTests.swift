import PushCore
import Store
import Testing

@testable import WebServer

/// The recall of a delivery through the API.
@Suite struct APIRecallTests {
    @Test func aDeliveryIsRecalledAndItsReportRead() async throws {
        let site = try await APISite.start()
        let admin = site.web.admin
        try await admin.seedSubscriptions(application: "shop-ios", count: 3)
        let id = try await admin.createDelivery(
            NewDelivery(
                label: "Sale",
                applications: ["shop-ios"],
                content: #"{"ios": {"title": "a", "collapse_id": "sale"}}"#
            )
        )
        let path = "/deliveries/\(id)/recall"
        let key = try await site.key(.writeDeliveries, .readDeliveries, name: "shop")
        let early = try await site.call("POST", path, key: key, #"{"reason": "wrong"}"#)
        #expect(early.status == 409, "\(early.answer)")
        try await admin.startDelivery(id)
        let job = try #require(try await admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !admin.prepareChunk(job, partSize: 1_000, partsPerChunk: 50).done {}
        #expect(try await site.call("GET", path, key: key).status == 404)
        #expect(try await site.call("POST", path, key: key, #"{"reason": ""}"#).status == 400)
        #expect(try await site.call("POST", path, key: key, #"{"reason": "w", "mode": "burn"}"#).status == 400)
        let reader = try await site.key(.readDeliveries)
        #expect(try await site.call("POST", path, key: reader, #"{"reason": "w"}"#).status == 403)
        let body = #"{"reason": "wrong price", "mode": "replace", "content": {"ios": {"title": "Sorry"}}}"#
        let recalled = try await site.call("POST", path, key: key, body)
        #expect(recalled.status == 200 && recalled["recalledBy"] == "API key shop", "\(recalled.answer)")
        #expect(recalled["target"] == "3" && recalled["unsent"] == "3" && recalled["tooLate"] == "0")
        #expect(recalled["recallState"] == "editing" && recalled["recallDeliveryId"] != "null")
        let read = try await site.call("GET", path, key: reader)
        #expect(read["reason"] == "wrong price" && read["mode"] == "replace" && read["pending"] == "0")
        #expect(try await site.call("GET", "/deliveries/\(id)", key: key)["state"] == "recalled")
        #expect(try await site.call("POST", path, key: key, body).status == 409)
        try await site.finish()
    }
}
