/// What a server announces in its first SETTINGS frame, and its own limits.
public struct HTTP2ServerSettings: Sendable {
    /// SETTINGS_MAX_CONCURRENT_STREAMS.
    public var maxConcurrentStreams: UInt32
    /// SETTINGS_HEADER_TABLE_SIZE; APNs announces 4,096.
    public var headerTableSize: UInt32 = 4_096
    /// SETTINGS_MAX_HEADER_LIST_SIZE; APNs announces 8,000.
    public var maxHeaderListSize: UInt32 = 8_000
    /// SETTINGS_INITIAL_WINDOW_SIZE; APNs announces 65,535.
    public var initialWindowSize: UInt32 = 65_535
    /// Bytes of a body that are kept; the rest is only counted.
    public var largestBody = 16 * 1_024
    /// The debug data of a GOAWAY (PROTOCOL_ERROR) for a client that exceeds the limit of streams, if not nghttp2's own.
    public var violationDebugData: [UInt8]?

    public init(maxConcurrentStreams: UInt32 = 1_000) {
        self.maxConcurrentStreams = maxConcurrentStreams
    }
}
