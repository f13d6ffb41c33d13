internal import CLinux

/// How the process uses memory.
public enum Memory {
    /// Large blocks go back to the system when they are freed. For a process that handles large things now and then;
    /// to be called before there are any.
    public static func returnLargeBlocks() { clinux_return_large_memory() }
}
