/// One request of a simulated device to its web server.
struct FleetRequest: Sendable, Equatable {
    enum Kind: Sendable {
        case registration, receipt, click
    }

    var kind: Kind
    var path: String
    /// The body of a POST; nil for a GET.
    var body: String?
}
