import HTTP2
import PushCore

@testable import GatewaySimulator

/// Batches of requests that the simulator accepts.
enum Batches {
    /// Pushes to random devices with those ids.
    static func apns(_ fixture: Fixture, ids: [MessageUUID]) -> HTTP2RequestBatch {
        apns(fixture, ids: ids, authorization: "bearer \(fixture.jwt)")
    }

    /// Pushes with another authorization and topic, or without.
    static func apns(
        _ fixture: Fixture,
        ids: [MessageUUID],
        authorization: String? = nil,
        topic: String? = Fixture.topic,
        pushType: String = "alert"
    ) -> HTTP2RequestBatch {
        let optional = [("authorization", authorization), ("apns-topic", topic)]
        let batch = HTTP2RequestBatch(
            sharedHeaders: [
                HTTP2HeaderField(":method", "POST"), HTTP2HeaderField(":scheme", "https"),
                HTTP2HeaderField(":authority", "localhost"),
                HTTP2HeaderField("apns-push-type", pushType), HTTP2HeaderField("apns-priority", "10"),
            ] + optional.compactMap { name, value in value.map { HTTP2HeaderField(name, $0) } },
            perRequestHeaderNames: ["apns-id"],
            capacity: ids.count,
            bodyBytes: ids.count * 40
        )
        for (number, id) in ids.enumerated() {
            var text: [UInt8] = []
            id.appendText(to: &text)
            batch.append(
                path: Array("/3/device/\(Fixture.token)".utf8),
                headerValues: [text],
                body: Array("{\"aps\":{\"alert\":\"number \(number)\"}}".utf8)
            )
        }
        return batch
    }

    /// Random ids.
    static func ids(_ count: Int) -> [MessageUUID] {
        (0..<count).map { _ in MessageUUID(high: .random(in: 1...UInt64.max), low: .random(in: 0...UInt64.max)) }
    }

    /// Messages for FCM with those ids in `_mId`.
    static func fcm(_ fixture: Fixture, bearer: String, ids: [MessageUUID]) -> HTTP2RequestBatch {
        let batch = HTTP2RequestBatch(
            sharedHeaders: [
                HTTP2HeaderField(":method", "POST"), HTTP2HeaderField(":scheme", "https"),
                HTTP2HeaderField(":authority", "localhost"),
                HTTP2HeaderField(":path", "/v1/projects/\(fixture.simulator.credentials.projectID)/messages:send"),
                HTTP2HeaderField("content-type", "application/json"),
                HTTP2HeaderField("authorization", "Bearer \(bearer)"),
            ],
            perRequestHeaderNames: [],
            capacity: ids.count,
            bodyBytes: ids.count * 120
        )
        for id in ids {
            let body = "{\"message\":{\"token\":\"fcm:token-1\",\"data\":{\"_mId\":\"\(id)\",\"_dId\":\"1\"}}}"
            batch.append(body: Array(body.utf8)[...])
        }
        return batch
    }
}
