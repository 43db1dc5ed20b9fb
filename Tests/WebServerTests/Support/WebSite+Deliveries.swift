import PushCore
import Store

@testable import WebServer

extension WebSite {
    /// A started and prepared delivery, with the ids of its messages.
    struct Sent {
        let delivery: Int64
        let codec: MessageIDCodec
        var hexDelivery: String { DeliveryID.hexText(delivery) }

        func uuid(_ sequence: Int32) -> String { codec.uuid(sequence: sequence).description }
    }

    /// Registers subscribers and prepares a delivery to them.
    func send(messages: Int64, application: String = "shop-ios") async throws -> Sent {
        try await admin.seedSubscriptions(application: application, count: messages)
        let host = "6f9619ff-8b86-4011-b42d-00cf4fc964ff"
        try await admin.registerHost(
            HostReport(
                id: host,
                name: "one",
                pid: 1,
                version: "1",
                schemaVersion: Store.schemaVersion,
                state: .running,
                journalFolder: "/var/lib/pushmta"
            )
        )
        let delivery = try await admin.createDelivery(
            NewDelivery(
                label: "test",
                applications: [application],
                content: #"{"ios": {"title": "a"}, "android": {"title": "a"}}"#
            )
        )
        try await admin.startDelivery(delivery)
        guard let job = try await admin.claimDeliveriesToPrepare(host: host).first else {
            throw RawHTTPError("nothing to prepare")
        }
        while try await !admin.prepareChunk(job, partSize: 1_000, partsPerChunk: 50).done {}
        let key = try await value(
            "SELECT encode(k.key, 'hex') FROM pushmta_engine.tracking_key k JOIN pushmta_engine.delivery d ON k.log_day = d.log_day WHERE d.id = \(delivery)"
        )
        guard let key else { throw RawHTTPError("no key") }
        let bytes = stride(from: 0, to: key.count, by: 2).compactMap { UInt8(key.dropFirst($0).prefix(2), radix: 16) }
        return Sent(delivery: delivery, codec: try MessageIDCodec(deliveryID: delivery, trackingKey: bytes))
    }

    /// The hits of a delivery as `sequence kind first`, in order of arrival.
    func hits(_ delivery: Int64) async throws -> [String] {
        let text = try await value(
            "SELECT string_agg(t.sequence || ' ' || t.kind || ' ' || t.first, ',' ORDER BY t.tracked_at, t.id) FROM pushmta_engine.tracking_log t WHERE t.delivery_id = \(delivery)"
        )
        return (text ?? "").split(separator: ",").map(String.init)
    }
}
