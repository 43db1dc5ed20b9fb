import Synchronization

/// What may be changed from outside while a gateway runs.
struct GatewayConditions: Sendable {
    var plan = FaultPlan()
    /// By the key of the token.
    var devices: [MessageKey: DeviceState] = [:]
    /// What the endpoint of access tokens is told to answer; FCM only.
    var tokenAnswer: ScriptedAnswer?
    /// The endpoint of access tokens cannot be reached: its port is closed; FCM only.
    var isTokenEndpointClosed = false
    /// How long the endpoint of access tokens takes for an answer.
    var tokenDelayMilliseconds = 0
    /// The sample credential has been revoked.
    var isRevoked = false
    /// Devices that nothing else is known of are registered for the other environment.
    var areDevicesElsewhere = false
    /// Every push is rejected, whatever it is.
    var isOutage: Bool { isRevoked || areDevicesElsewhere }
    /// The gateway, or what it cannot do without, is out, and somebody wants to know what comes meanwhile.
    var isMetered: Bool { plan.outage != nil || tokenAnswer != nil || isTokenEndpointClosed }
    /// Counts the calls that drop every connection.
    var drops = 0
}

/// Conditions that any thread sets and that event loops look at before each read: an unchanged version costs one load.
final class SharedConditions: Sendable {
    private let value: Mutex<GatewayConditions>
    private let versionNumber = Atomic<Int>(1)
    /// What of the project's quota is used.
    let quota = ProjectQuota()
    private let observers = Mutex<[@Sendable () -> Void]>([])

    init(_ conditions: GatewayConditions) {
        value = Mutex(conditions)
    }

    /// Counts up with each change.
    var version: Int { versionNumber.load(ordering: .acquiring) }

    var current: GatewayConditions { value.withLock { $0 } }

    /// Changes the conditions and wakes whoever has to act on them at once.
    func change(_ body: (inout GatewayConditions) -> Void) {
        value.withLock { body(&$0) }
        versionNumber.add(1, ordering: .releasing)
        for observer in observers.withLock({ $0 }) { observer() }
    }

    /// Has a function called after each change, on the thread that makes it.
    func observe(_ observer: @escaping @Sendable () -> Void) {
        observers.withLock { $0.append(observer) }
    }
}

/// How much of a project's quota of messages a minute is used, over all event loops.
final class ProjectQuota: Sendable {
    /// In nanoseconds.
    private static let minute: UInt64 = 60_000_000_000

    private let used = Mutex((since: UInt64(0), messages: 0))

    /// Whether the quota takes one more message; a minute begins with the first message after the last one.
    func takes(_ quota: Int, at nanoseconds: UInt64) -> Bool {
        used.withLock { used in
            if nanoseconds >= used.since + Self.minute { used = (nanoseconds, 0) }
            guard used.messages < quota else { return false }
            used.messages += 1
            return true
        }
    }
}

/// What a gateway knows about a device token. A token that it was told nothing about is valid.
public enum DeviceState: Sendable, Equatable {
    /// The app was removed: APNs 410 `Unregistered`, FCM `UNREGISTERED`, legacy FCM `NotRegistered`. Milliseconds since 1970 say
    /// since when (APNs only).
    case unregistered(sinceMilliseconds: Int64)
    /// The token is too old: APNs 410 `ExpiredToken`, FCM `UNREGISTERED`, legacy FCM `NotRegistered`.
    case expired(sinceMilliseconds: Int64)
    /// The token is wrong or of the other environment: APNs `BadDeviceToken`, FCM `INVALID_ARGUMENT`, legacy FCM
    /// `InvalidRegistration`.
    case badDeviceToken
    /// The token belongs to another app: APNs `DeviceTokenNotForTopic`, FCM `SENDER_ID_MISMATCH`, legacy FCM `MismatchSenderId`.
    case deviceTokenNotForTopic
    /// The token is taken and another one is wanted instead: legacy FCM's canonical id. To the other gateways it is valid.
    case replaced(by: String)
    /// The token is one for pushes of this type, as PushKit, ActivityKit and WidgetKit each give their own: APNs answers those to
    /// another topic with `DeviceTokenNotForTopic`. To the other gateways it is valid.
    case pushType(String)
    /// Pushes to it are answered as a script says.
    case scripted(ScriptedAnswer)

    /// The state of that name, as the control port and the command line write it; nil when there is none.
    ///
    /// - Parameter by: the token that is wanted instead, which `Replaced` needs, or a value of `apns-push-type`, which `PushType` does.
    public init?(name: String, sinceMilliseconds: Int64, by: String? = nil) {
        switch name {
        case "Unregistered", "UNREGISTERED", "NotRegistered": self = .unregistered(sinceMilliseconds: sinceMilliseconds)
        case "ExpiredToken": self = .expired(sinceMilliseconds: sinceMilliseconds)
        case "BadDeviceToken", "INVALID_ARGUMENT", "InvalidRegistration": self = .badDeviceToken
        case "DeviceTokenNotForTopic", "SENDER_ID_MISMATCH", "MismatchSenderId": self = .deviceTokenNotForTopic
        case "Replaced":
            guard let by else { return nil }
            self = .replaced(by: by)
        case "PushType":
            guard let by, APNsPushType(rawValue: by) != nil else { return nil }
            self = .pushType(by)
        default: return nil
        }
    }

    /// The names that `init(name:sinceMilliseconds:by:)` takes, without their FCM aliases.
    public static let names = [
        "Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic", "Replaced (with the new token)",
        "PushType (with the push type)",
    ]
}
