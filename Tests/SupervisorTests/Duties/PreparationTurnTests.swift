import Logging
import PushCore
import Store
import Testing

@testable import Supervisor

@Suite struct PreparationTurnTests {
    @Test(
        "A delivery of weight 3 has three quarters of what leaves beside one of weight 1, whichever began first",
        arguments: [0, 1]
    )
    func sharesFollowWeights(heavy: Int) async throws {
        let site = try await SupervisorSite.make(subscriptions: 6_000)
        var deliveries: [Int64] = []
        for _ in 0..<2 { deliveries.append(try await site.startDelivery()) }
        try await site.store.setDeliveryWeight(deliveries[heavy], 3)
        let duty = Self.duty(site.store)
        let child = try await site.lostChild()
        var claimed: [Int64] = []
        while claimed.count < 400 {
            _ = try await duty.prepareAll()
            let parts = try await site.store.claimParts(application: 1, account: 1, child: child, limit: 1)
            claimed.append(try #require(parts.first).deliveryID)
        }
        // At first there is what was made before the turns were those of the weights.
        let share = claimed.dropFirst(100).count { $0 == deliveries[heavy] }
        #expect((210...240).contains(share), "of 300 parts, \(share) were of the delivery of weight 3")
    }

    /// Parts of ten messages, four a chunk, and no more than two chunks of two deliveries ahead.
    private static func duty(_ store: Store) -> PreparationDuty {
        var settings = SupervisorSettings()
        settings.preparation.messagesPerPart = 10
        settings.preparation.partsPerChunk = 4
        settings.preparation.maxReadyParts = 8
        return PreparationDuty(
            store: store,
            slowStore: store,
            hostID: "host",
            settings: settings,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            isClaiming: { true },
            chunkMade: {}
        )
    }
}
