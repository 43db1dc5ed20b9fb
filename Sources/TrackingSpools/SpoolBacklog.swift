/// What waits in a folder of spools though the process that kept it is gone.
public struct SpoolBacklog: Sendable, Hashable {
    /// Files with hits that are not loaded, those included that cannot be.
    public var files: Int
    /// The bytes of these hits, as far as they can be told.
    public var bytes: Int64

    /// A backlog; none unless given.
    public init(files: Int = 0, bytes: Int64 = 0) {
        self.files = files
        self.bytes = bytes
    }
}
