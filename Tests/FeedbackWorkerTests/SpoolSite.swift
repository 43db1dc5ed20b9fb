import Foundation
import Logging
import PushCore
import Store
import TrackingSpools

@testable import FeedbackWorker

/// A folder of spools on a host with feedback workers, and a delivery whose messages devices tell of.
struct SpoolSite {
    let site: FeedbackSite
    let folder: String
    let delivery: Int64
    private let codec: MessageIDCodec

    static func make(messages: Int64) async throws -> SpoolSite {
        let site = try await FeedbackSite.make()
        try await site.store.seedSubscriptions(application: "shop-ios", count: messages)
        let host = "6f9619ff-8b86-4011-b42d-00cf4fc964ff"
        try await site.store.registerHost(
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
        let delivery = try await site.store.createDelivery(
            NewDelivery(label: "test", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        try await site.store.startDelivery(delivery)
        guard let job = try await site.store.claimDeliveriesToPrepare(host: host).first else {
            throw StoreError(.notFound, "There is nothing to prepare.")
        }
        while try await !site.store.prepareChunk(job, partSize: 1_000, partsPerChunk: 50).done {}
        func half(_ name: String, from place: Int) async throws -> Int64 {
            try await site.number(
                """
                SELECT ('x' || encode(substring(k.key FROM \(place) FOR 8), 'hex'))::bit(64)::bigint
                FROM pushmta_engine.tracking_key k JOIN pushmta_engine.delivery d ON k.log_day = d.log_day
                WHERE d.id = \(delivery)
                """
            )
        }
        let key = try await [half("high", from: 1), half("low", from: 9)].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> Int64(56 - 8 * $0)) }
        }
        let folder = NSTemporaryDirectory() + "feedback-\(UUID().uuidString)"
        return SpoolSite(
            site: site,
            folder: folder,
            delivery: delivery,
            codec: try MessageIDCodec(deliveryID: delivery, trackingKey: key)
        )
    }

    /// The spool of a web process that lives, with a record for each of these messages.
    func spool(_ sequences: ClosedRange<Int32>, source: UUID = UUID()) throws -> TrackingSpool {
        let spool = try TrackingSpool(
            folder: folder,
            maxMegabytes: 10,
            source: source,
            created: Int64(sequences.lowerBound),
            logger: Logger(label: "spool") { _ in SwiftLogNoOpLogHandler() }
        )
        for (index, sequence) in sequences.enumerated() {
            try spool.append(TrackingSpoolRecord(position: Int64(index) + 1, hits: [hit(sequence)]))
        }
        return spool
    }

    func hit(_ sequence: Int32) -> TrackingHit {
        TrackingHit(
            id: TrackingID(
                message: .uuid(codec.uuid(sequence: sequence)),
                deliveries: [delivery],
                kind: .received
            ),
            microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000),
            address: IPAddress("192.0.2.1"),
            userAgent: "okhttp"
        )
    }

    func worker() -> FeedbackWorker {
        site.worker { $0.settings.web.workingPath = folder }
    }

    var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
    }
}
