import Administration
import ArgumentParser
import PushCore
import Store

/// People, named in one of several ways.
struct AddresseeOptions: ParsableArguments {
    /// A user key is indexed, and an index entry is limited to a third of a page.
    static let maxKeyLength = DeviceRegistration.maxKeyLength
    /// Why a token names no one.
    static let tokenWords = "is neither \(PushTokenForm.words(.ios)), nor \(PushTokenForm.words(.android))"
    /// Why an id names no one.
    static let subscriptionWords = "is not the id of a subscription: ids begin with 1"

    @Option(name: .customLong("user"), help: "A user key; may be repeated.")
    var userKeys: [String] = []

    @Option(name: .customLong("subscription"), help: "A subscription's id; may be repeated.")
    var subscriptionIDs: [Int64] = []

    @Option(name: .customLong("token"), help: "A push token; may be repeated.")
    var pushTokens: [String] = []

    func validate() throws {
        guard !people.isEmpty else { throw ValidationError("Give at least one --user, --subscription or --token.") }
        guard !(userKeys + pushTokens).contains(where: { KeyText.trimmed($0).isEmpty }) else {
            throw ValidationError("A --user or --token is empty: it names no one.")
        }
        guard (userKeys + pushTokens).allSatisfy({ $0.utf8.count <= 4_096 }),
            userKeys.allSatisfy({ $0.utf8.count <= Self.maxKeyLength })
        else { throw ValidationError("A --user is longer than \(Self.maxKeyLength) bytes, or a --token than 4096.") }
    }

    /// Refuses what can name no one. Removal does not check this, as the list may hold entries from before this check
    /// existed.
    func validateForm() throws {
        if let place = people.pushTokens.firstIndex(where: { !PushTokenForm.canBeToken($0) }) {
            throw ValidationError("--token number \(place + 1) \(Self.tokenWords).")
        }
        if let id = subscriptionIDs.first(where: { $0 < 1 }) {
            throw ValidationError("--subscription \(id) \(Self.subscriptionWords).")
        }
    }

    var people: Addressees {
        Addressees(
            userKeys: userKeys.map(KeyText.trimmed),
            subscriptionIDs: subscriptionIDs,
            pushTokens: pushTokens.map(KeyText.trimmed)
        )
    }

    /// The people, one by one.
    var each: [Addressee] {
        let people = people
        return people.userKeys.map(Addressee.userKey) + people.subscriptionIDs.map(Addressee.subscription)
            + people.pushTokens.map(Addressee.pushToken)
    }
}
