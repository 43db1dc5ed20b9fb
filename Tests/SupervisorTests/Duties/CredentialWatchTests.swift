import PushCore
import Store
import Testing

@testable import Supervisor

@Suite struct CredentialWatchTests {
    private func notice(_ id: Int64, days: Double?) -> CredentialNotice {
        CredentialNotice(
            id: id,
            kind: .apnsCertificate,
            name: "shop-\(id)",
            sealKeyID: "k",
            fingerprint: "0123456789abcdef0123",
            secondsLeft: days.map { $0 * 86_400 },
            applications: ["shop-ios", "news-ios"]
        )
    }

    @Test func eachStepIsSaidOnceADay() {
        var watch = CredentialWatch()
        let first = watch.look([notice(1, days: 29), notice(2, days: nil), notice(3, days: 40)], day: 100)
        #expect(first.map(\.notice) == [.month])
        #expect(
            first[0].text.contains("Credential 1 (an APNs certificate (.p12), 0123456789abcdef) of shop-ios, news-ios")
        )
        #expect(first[0].text.contains("expires in 29 days"))
        #expect(watch.look([notice(1, days: 28.9)], day: 100).isEmpty)
        #expect(watch.look([notice(1, days: 28)], day: 101).map(\.notice) == [.month])
        // The next step is reported on the same day.
        #expect(watch.look([notice(1, days: 6.9)], day: 101).map(\.notice) == [.week])
        #expect(watch.look([notice(1, days: 0.9)], day: 101).map(\.notice) == [.day])
        #expect(watch.look([notice(1, days: -0.1)], day: 101).map(\.notice) == [.over])
        #expect(watch.look([notice(1, days: -0.2)], day: 101).isEmpty)
        #expect(watch.look([notice(1, days: -1)], day: 102).map(\.notice) == [.over])
    }
}
