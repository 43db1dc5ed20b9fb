/// What a supervisor sees of one part's lease.
struct LeaseSighting: Sendable, Hashable {
    var partID: Int64
    var token: Int64
    var renewal: Int64
}
