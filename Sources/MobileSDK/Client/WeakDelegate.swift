/// A delegate that the client does not keep alive.
struct WeakDelegate: Sendable {
    weak var delegate: (any PushClientDelegate)?
}
