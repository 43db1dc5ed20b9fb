import PushCore
import Store
import TestSupport
import Testing

@Suite("The configuration that running children use")
struct RouteVersionTests {
    @Test("The version changes only with settings that a child reads at its start")
    func versions() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        let first = try await store.routeVersions()
        #expect(first.applications.count == 2 && first.accounts.count == 2)
        var label = ApplicationChange()
        label.label = "Another label"
        try await store.setApplication(name: "shop-ios", label)
        try await store.setAccount(name: "apns", active: false)
        #expect(try await store.routeVersions() == first)

        var bundle = ApplicationChange()
        bundle.bundleID = "com.other"
        let application = try await store.setApplication(name: "shop-ios", bundle).id
        let second = try await store.routeVersions()
        #expect(
            second.applications[application] != first.applications[application] && second.accounts == first.accounts
        )
        let account = try await store.setAccount(name: "apns", connector: .iosBinary, host: "other").id
        let third = try await store.routeVersions()
        #expect(third.accounts[account]?.connector == .iosBinary && third.accounts[account] != second.accounts[account])
        #expect(third.applications == second.applications)
        try await store.setAccount(name: "apns", port: 444)
        #expect(try await store.routeVersions().accounts[account] != third.accounts[account])
    }

    @Test("Deliveries under way are those of the account and the application that have started and not ended")
    func underWay() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        let first = try await fixture.startedDelivery()
        let second = try await fixture.startedDelivery(["shop-android"])
        let both = try await fixture.startedDelivery(["shop-ios", "shop-android"])
        let ended = try await fixture.startedDelivery()
        try await store.stopDelivery(ended)
        _ = try await store.createDelivery(
            NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        try await store.pauseDelivery(first)
        #expect(try await store.deliveriesUnderWay(account: "apns") == [first, both])
        #expect(try await store.deliveriesUnderWay(application: "shop-android") == [second, both])
        #expect(try await store.deliveriesUnderWay(account: "nothing").isEmpty)
    }
}
