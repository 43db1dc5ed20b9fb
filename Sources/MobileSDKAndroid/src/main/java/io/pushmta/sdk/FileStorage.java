package io.pushmta.sdk;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Stores state in files of one folder, which only one process may use at a time. */
public final class FileStorage implements Storage {
    private final File folder;

    /** Stores files in a folder, which is created if needed. */
    public FileStorage(File folder) {
        this.folder = folder;
    }

    @Override
    public String read(String name) throws IOException {
        File file = new File(folder, name);
        if (!file.exists()) {
            return null;
        }
        try (InputStream input = new FileInputStream(file)) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            byte[] part = new byte[4096];
            for (int count = input.read(part); count >= 0; count = input.read(part)) {
                bytes.write(part, 0, count);
            }
            return new String(bytes.toByteArray(), StandardCharsets.UTF_8);
        }
    }

    /** Writes a new file and replaces the old one with it, so that one of the two survives the end of the process. */
    @Override
    public void write(String name, String text) throws IOException {
        if (!folder.isDirectory() && !folder.mkdirs() && !folder.isDirectory()) {
            throw new IOException("The folder " + folder + " cannot be created");
        }
        File beside = new File(folder, name + ".new");
        try (FileOutputStream output = new FileOutputStream(beside)) {
            output.write(text.getBytes(StandardCharsets.UTF_8));
            output.getFD().sync();
        }
        if (!beside.renameTo(new File(folder, name))) {
            throw new IOException("The file " + name + " in " + folder + " cannot be replaced");
        }
    }
}
