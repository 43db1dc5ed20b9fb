import ArgumentParser
import PushCore
import Store

/// People, by what names them.
struct AddresseeOptions: ParsableArguments {
    /// A user key is in an index, whose entries are limited to a third of a page.
    static let longestKey = DeviceRegistration.longestKey
    /// Why a token names nobody.
    static let tokenWords = "is neither \(PushTokenForm.words(.ios)), nor \(PushTokenForm.words(.android))"
    /// Why an id names nobody.
    static let subscriptionWords = "is no subscription's id: they begin with 1"

    @Option(name: .customLong("user"), help: "A user key; may be repeated.")
    var userKeys: [String] = []

    @Option(name: .customLong("subscription"), help: "A subscription's id; may be repeated.")
    var subscriptionIDs: [Int64] = []

    @Option(name: .customLong("token"), help: "A push token; may be repeated.")
    var pushTokens: [String] = []

    func validate() throws {
        guard !people.isEmpty else { throw ValidationError("Name somebody with --user, --subscription or --token.") }
        guard !userKeys.contains(""), !pushTokens.contains("") else {
            throw ValidationError("A --user or --token is empty: it names nobody.")
        }
        guard (userKeys + pushTokens).allSatisfy({ $0.utf8.count <= 4_096 }),
            userKeys.allSatisfy({ $0.utf8.count <= Self.longestKey })
        else { throw ValidationError("A --user is longer than \(Self.longestKey) bytes, or a --token than 4096.") }
    }

    /// Refuses what can name nobody. Whoever is taken off a list may have come onto it before this was looked at.
    func validateForm() throws {
        if let place = pushTokens.firstIndex(where: { !PushTokenForm.canBeToken($0) }) {
            throw ValidationError("--token number \(place + 1) \(Self.tokenWords).")
        }
        if let id = subscriptionIDs.first(where: { $0 < 1 }) {
            throw ValidationError("--subscription \(id) \(Self.subscriptionWords).")
        }
    }

    /// The people.
    var people: Addressees {
        Addressees(userKeys: userKeys, subscriptionIDs: subscriptionIDs, pushTokens: pushTokens)
    }
}
