/// A request to a supervisor to show requests and answers on the wire: one line on its socket.
package struct TraceRequest: ProtocolMessage, Equatable {
    /// The version of the protocol.
    package var version: Int
    /// The application whose messages are shown.
    package var applicationID: Int32
    /// Its name, for the logs.
    package var application: String
    /// Only messages to the push token with this SHA-256 hash, hexadecimal digits; nil for all.
    package var tokenHash: String?
    /// Only messages of this delivery; nil for all.
    package var deliveryID: Int64?
    /// Samples per second and child.
    package var perSecond: Int
    /// Seconds until it ends; at most ``TraceLimits/maxSeconds``.
    package var seconds: Int
    /// Whether texts of messages and values of fields are shown; this is recorded in the audit log.
    package var isUnmasked: Bool
    /// The user who asks, for the audit log.
    package var person: String

    /// Requests all messages of an application.
    package init(applicationID: Int32, application: String, person: String) {
        version = ProtocolVersion.current
        self.applicationID = applicationID
        self.application = application
        self.person = person
        perSecond = TraceLimits.usualPerSecond
        seconds = TraceLimits.maxSeconds
        isUnmasked = false
    }

    /// Why the request cannot be served; nil if it can.
    package var problem: String? {
        if !(1...TraceLimits.maxPerSecond).contains(perSecond) {
            return "\(perSecond) samples a second are not possible: ask for 1 to \(TraceLimits.maxPerSecond)"
        }
        if !(1...TraceLimits.maxSeconds).contains(seconds) {
            return "a trace cannot last \(seconds) s: ask for 1 to \(TraceLimits.maxSeconds)"
        }
        return nil
    }
}
